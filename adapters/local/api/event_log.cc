#include "adapters/local/api/event_log.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/local/api/job_json.h"

namespace muster::local {
namespace {

constexpr Time kMicrosecond = 1'000;

std::string LineOf(uint64_t id, const JobNews& news, Time now) {
  nlohmann::ordered_json json{{"id", id},
                              {"at", SecondsOf(now)},
                              {"job", news.job},
                              {"what", std::string(news.what)}};
  if (!news.text.empty()) json["text"] = news.text;
  return ToText(json) + "\n";
}

}  // namespace

std::string EventLog::Rooms::Take(Reading* reading) const {
  const auto first =
      std::ranges::upper_bound(lines, reading->after, std::less<>(), &Line::id);
  std::string text;
  for (auto it = first; it != lines.end(); ++it) text += it->text;
  reading->after = std::max(reading->after, last);
  return text;
}

void EventLog::Add(const std::vector<JobNews>& news, Time now) {
  if (news.empty()) return;
  std::vector<std::pair<serve::PartReply, std::string>> replies;
  {
    const std::lock_guard lock(rooms_->mutex);
    for (const JobNews& one : news) {
      rooms_->last =
          std::max(rooms_->last + 1, static_cast<uint64_t>(now / kMicrosecond));
      rooms_->lines.push_back({rooms_->last, LineOf(rooms_->last, one, now)});
      if (rooms_->lines.size() > kKept) rooms_->lines.pop_front();
    }
    for (const Wish& wish : std::exchange(rooms_->wishes, {})) {
      const auto reading = wish.reading.lock();
      if (reading == nullptr) continue;  // Nobody asks any more.
      replies.emplace_back(wish.reply, rooms_->Take(reading.get()));
    }
  }
  for (auto& [reply, text] : replies) reply({.bytes = std::move(text)});
}

serve::BodySource EventLog::Open(uint64_t after, bool follow) {
  {
    // An id that is not there yet is one of a clock that was set back.
    const std::lock_guard lock(rooms_->mutex);
    after = std::min(after, rooms_->last);
  }
  auto reading = std::make_shared<Reading>(Reading{after, follow});
  return
      [weak = std::weak_ptr(rooms_), reading](const serve::PartReply& reply) {
        const auto rooms = weak.lock();
        if (rooms == nullptr) return reply({.last = true});
        serve::BodyPart part{.last = !reading->follow};
        {
          const std::lock_guard lock(rooms->mutex);
          part.bytes = rooms->Take(reading.get());
          if (part.bytes.empty() && reading->follow) {
            std::erase_if(rooms->wishes,
                          [](const Wish& w) { return w.reading.expired(); });
            rooms->wishes.push_back({reading, reply});
            return;
          }
        }
        reply(std::move(part));
      };
}

}  // namespace muster::local
