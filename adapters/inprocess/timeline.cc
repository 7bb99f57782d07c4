#include "adapters/inprocess/timeline.h"

#include <algorithm>
#include <tuple>

#include "adapters/text/quantity.h"

namespace muster::inprocess {

uint32_t Interval::tasks() const {
  return static_cast<uint32_t>(std::ranges::count_if(
      nodes, [](const std::string& node) { return !node.empty(); }));
}

GangStory& Timeline::StoryOf(const Gang& gang) {
  GangStory& story = stories_[gang.key];
  if (story.key.empty()) {
    story.key = gang.key;
    story.submitted = gang.submitted;
    for (const Role& role : gang.roles) {
      story.task_roles.insert(story.task_roles.end(), role.desired_tasks,
                              role.name);
    }
  }
  return story;
}

void Timeline::Submitted(Time, const Gang& gang) { StoryOf(gang); }

void Timeline::Ran(const RunStart& run) {
  Interval interval{.from = run.at};
  interval.nodes.assign(run.nodes.begin(), run.nodes.end());
  interval.sizes.push_back({run.at, interval.tasks()});
  StoryOf(run.gang).intervals.push_back(std::move(interval));
}

void Timeline::Resized(Time at, const Gang& gang, uint32_t tasks) {
  std::vector<Interval>& intervals = StoryOf(gang).intervals;
  if (intervals.empty()) return;
  std::vector<Size>& sizes = intervals.back().sizes;
  if (sizes.back().at == at) sizes.pop_back();
  if (sizes.empty() || sizes.back().tasks != tasks) {
    sizes.push_back({at, tasks});
  }
}

void Timeline::Stopped(const RunStop& stop) {
  std::vector<Interval>& intervals = StoryOf(stop.gang).intervals;
  if (intervals.empty()) return;
  Interval& i = intervals.back();
  i.to = stop.at;
  i.cause = stop.cause;
  i.saved = stop.saved;
  i.lost = stop.lost;
  i.on_behalf_of = stop.on_behalf_of;
}

void Timeline::Gone(Time, const Gang& gang, std::string_view why) {
  StoryOf(gang).gone = why;
}

void Timeline::Planned(const Plan& plan, const Scheduler&) {
  nominations_ += static_cast<uint64_t>(std::ranges::count(
      plan.decisions, DecisionKind::kNominate, &Decision::kind));
}

std::vector<const GangStory*> Timeline::Stories() const {
  std::vector<const GangStory*> all;
  for (const auto& [key, story] : stories_) all.push_back(&story);
  std::ranges::stable_sort(all, {}, &GangStory::submitted);
  return all;
}

const GangStory* Timeline::Find(std::string_view key) const {
  const auto it = stories_.find(key);
  return it == stories_.end() ? nullptr : &it->second;
}

std::string ToText(const Interval& i) {
  std::string sizes;
  for (const Size& size : i.sizes) {
    if (i.sizes.size() == 1) break;
    sizes += sizes.empty() ? " (" : ", ";
    sizes += std::to_string(size.tasks);
    sizes += size.at == i.from ? " tasks" : " from " + FormatSeconds(size.at);
  }
  if (!sizes.empty()) sizes += ")";
  std::string text = FormatSeconds(i.from) + "-";
  if (!i.cause.has_value()) return text + sizes + " still at work";
  text += FormatSeconds(i.to) + sizes;
  if (*i.cause == StopCause::kFinished) return text;
  text += " ";
  text += Name(*i.cause);
  if (!i.on_behalf_of.empty()) text += " by " + i.on_behalf_of;
  return text + " with " + FormatSeconds(i.saved) + " s saved and " +
         FormatSeconds(i.lost) + " s lost";
}

namespace {

// '#' at work (its last stretch before a stop that lost work ends in 'x'),
// '.' submitted and waiting.
std::string Bar(const GangStory& story, Time end, uint32_t width) {
  std::string bar(width, ' ');
  const auto cell = [&](Time t) {
    const __int128 scaled = static_cast<__int128>(std::min(t, end)) * width;
    return static_cast<uint32_t>(
        std::min<__int128>(width - 1, scaled / std::max<Time>(1, end)));
  };
  const bool over = !story.gone.empty() ||
                    (!story.intervals.empty() &&
                     story.intervals.back().cause == StopCause::kFinished);
  const Time last = story.intervals.empty() ? 0 : story.intervals.back().to;
  const Time until = over ? std::max(last, story.submitted) : end;
  const uint32_t waits_to = until >= end ? width : cell(until);
  for (uint32_t c = cell(story.submitted); c < waits_to; ++c) bar[c] = '.';
  for (const Interval& i : story.intervals) {
    const uint32_t from = cell(i.from);
    const uint32_t to = i.to >= end ? width : std::max(from + 1, cell(i.to));
    for (uint32_t c = from; c < to; ++c) bar[c] = '#';
    if (i.cause.has_value() && i.lost > 0) bar[to - 1] = 'x';
  }
  return bar;
}

}  // namespace

void Print(const Timeline& timeline, Time end, uint32_t width,
           std::ostream& out) {
  size_t key_width = 0;
  for (const GangStory* s : timeline.Stories()) {
    key_width = std::max(key_width, s->key.size());
  }
  for (const GangStory* s : timeline.Stories()) {
    out << "  " << s->key << std::string(key_width - s->key.size(), ' ') << " |"
        << Bar(*s, end, width) << "|";
    const char* separator = " ";
    for (const Interval& i : s->intervals) {
      out << separator << ToText(i);
      separator = "; ";
    }
    if (s->intervals.empty() && s->gone.empty()) out << " never started";
    if (!s->gone.empty()) out << separator << s->gone;
    out << "\n";
  }
}

}  // namespace muster::inprocess
