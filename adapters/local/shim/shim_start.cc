#include "adapters/local/shim/shim_start.h"

#include <fcntl.h>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/record.h"

namespace muster::local {

std::string Encode(const ShimStart& start) {
  RecordWriter out;
  out.Add("task", start.task.pid);
  out.Add("task_start", std::to_string(start.task.start));
  out.Add("shim", start.shim.pid);
  out.Add("shim_start", std::to_string(start.shim.start));
  out.Add("boot", start.boot);
  out.Add("at", start.at);
  return out.Take();
}

bool Decode(std::string_view bytes, ShimStart* start) {
  *start = ShimStart();
  return ReadRecords(bytes,
                     [start](std::string_view name, std::string_view value) {
                       if (name == "task")
                         return ParseNumber(value, &start->task.pid);
                       if (name == "task_start")
                         return ParseNumber(value, &start->task.start);
                       if (name == "shim")
                         return ParseNumber(value, &start->shim.pid);
                       if (name == "shim_start")
                         return ParseNumber(value, &start->shim.start);
                       if (name == "boot") start->boot = value;
                       if (name == "at") return ParseNumber(value, &start->at);
                       return true;
                     });
}

std::string BootId() {
  std::string id;
  ReadFile(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &id);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace muster::local
