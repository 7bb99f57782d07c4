// Step 6: queues with guarantees lend what they do not use, and take it back.
#include "host.h"

int main() {
  Host host({.resources = {"gpu"}});
  for (const char* key : {"node-1", "node-2"}) {
    host.Report(muster::NodeChanged{NodeWith(key, 4)});
  }
  // [queues]
  for (const char* team : {"blue", "red"}) {
    muster::Queue queue{.key = team};
    queue.quotas = {{.resource = "gpu", .guarantee = 4'000, .limit = 6'000}};
    host.Report(muster::QueueChanged{queue});
  }
  // [queues]
  // [borrow]
  for (const char* key : {"blue-1", "blue-2", "blue-3", "blue-4"}) {
    host.Report(muster::GangSubmitted{Workers(key, "blue", 1, 2)});
  }
  host.Run();
  const auto why = host.scheduler().Explain("blue-4");
  std::cout << "blue-4 waits: " << ToText(why->reason) << "\n";
  // [borrow]
  // [reclaim]
  host.At(60);
  host.Report(muster::GangSubmitted{Workers("red-1", "red", 1, 4)});
  host.Run();
  std::cout << "blue uses " << host.scheduler().QueueUsage("blue")[0]
            << " thousandths of GPUs, red "
            << host.scheduler().QueueUsage("red")[0] << "\n";
  // [reclaim]
}
