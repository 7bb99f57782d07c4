#include <string>

#include "adapters/kubernetes/api/readers.h"
#include "adapters/kubernetes/client/line_splitter.h"
#include "adapters/kubernetes/client/watch_event.h"
#include "fuzz/targets.h"

namespace muster::fuzz {
namespace {

namespace api = kubernetes::api;
namespace client = kubernetes::client;

bool IsInvalid(const absl::Status& status) {
  return absl::IsInvalidArgument(status) && !status.message().empty();
}

// An object reads the same alone, in a list and in an event.
template <typename T>
std::string ReadEverywhere(const std::string& json) {
  api::Reader reader;
  const auto alone = reader.Read<T>(json);
  if (!alone.ok() && !IsInvalid(alone.status())) {
    return alone.status().ToString();
  }
  int read = 0, bad = 0;
  bool same = true;
  const auto list = reader.template ReadList<T>(
      "{\"items\":[" + json + "]}",
      [&](T object) {
        ++read;
        same = alone.ok() && object == *alone;
      },
      [&](const api::BadObject& object) {
        ++bad;
        same = IsInvalid(object.why) && !alone.ok();
      });
  if (!list.ok() && !IsInvalid(list.status())) return list.status().ToString();
  if (alone.ok() && (!list.ok() || read != 1 || bad != 0 || !same)) {
    return "the object is another one in a list";
  }
  std::string line = "{\"type\":\"ADDED\",\"object\":" + json + "}";
  const size_t size = line.size();
  line.append(client::kPadding, ' ');
  client::WatchReader watch;
  const auto event = watch.ReadEvent(std::string_view(line).substr(0, size));
  if (!event.ok() && !IsInvalid(event.status())) {
    return event.status().ToString();
  }
  if (alone.ok() && event.ok()) {
    const auto object = reader.Read<T>(event->object);
    if (!object.ok() || *object != *alone) {
      return "the object is another one in an event";
    }
  }
  // As it stands: a list.
  (void)reader.template ReadList<T>(
      json, [](const T&) {}, [](const api::BadObject&) {});
  return "";
}

}  // namespace

std::string Kubernetes(std::string_view input) {
  const std::string_view kind = input.substr(0, input.find('\n'));
  input.remove_prefix(std::min(input.size(), kind.size() + 1));
  const std::string json(input);
  if (kind == "node") return ReadEverywhere<api::Node>(json);
  if (kind == "podgroup") return ReadEverywhere<api::PodGroup>(json);
  if (kind == "volcano") return ReadEverywhere<api::VolcanoPodGroup>(json);
  if (kind == "queue") return ReadEverywhere<api::Queue>(json);
  if (kind == "muster") return ReadEverywhere<api::MusterPodGroup>(json);
  if (kind == "owner") return ReadEverywhere<api::Owner>(json);
  if (kind == "volume") return ReadEverywhere<api::PersistentVolume>(json);
  return ReadEverywhere<api::Pod>(json);
}

}  // namespace muster::fuzz
