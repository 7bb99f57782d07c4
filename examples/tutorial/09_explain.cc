// Step 9: every gang that waits has a reason.
#include "host.h"

int main() {
  Host host({.resources = {"gpu"}});
  host.Report(muster::NodeChanged{NodeWith("node-1", 4)});
  host.Report(muster::QueueChanged{{.key = "lab"}});
  // [submit]
  host.Report(muster::GangSubmitted{Workers("runs", "lab", 1, 3)});
  host.Report(muster::GangSubmitted{Workers("waits", "lab", 1, 2)});
  host.Report(muster::GangSubmitted{Workers("huge", "lab", 2, 4)});
  muster::Gang picky = Workers("picky", "lab", 1, 1);
  picky.roles[0].shape.devices.models = {"H100"};
  host.Report(muster::GangSubmitted{picky});
  muster::Gang later = Workers("later", "lab", 1, 1);
  later.not_before = 3600 * muster::kSecond;
  host.Report(muster::GangSubmitted{later});
  host.Run();
  // [submit]

  // [explain]
  for (const char* key : {"runs", "waits", "huge", "picky", "later"}) {
    const auto why = host.scheduler().Explain(key);
    Must(why.status());
    std::cout << key << " is " << Name(why->phase) << ": "
              << ToText(why->reason) << "\n";
  }
  // [explain]

  // [codes]
  const auto why = host.scheduler().Explain("waits");
  if (why->reason.code == muster::ReasonCode::kInsufficient) {
    std::cout << why->reason.needed - why->reason.available << " "
              << why->reason.resource << " short\n";
  }
  // [codes]

  // [mirror]
  muster::Plan plan;
  host.scheduler().AllWaiting(&plan);
  muster::WaitingMirror mirror;
  mirror.Reset(plan);
  const auto show = [&] {
    for (const auto& [id, waiting] : mirror.classes()) {
      std::cout << "class " << id << ": " << waiting.first_gang << ", "
                << Name(waiting.reason.code) << "\n";
    }
  };
  show();

  host.At(60);
  host.Report(muster::GangFinished{"runs"});
  host.scheduler().Schedule(host.now(), &plan);
  mirror.Follow(plan);
  std::cout << "runs is gone, " << plan.waiting.size() << " change\n";
  show();
  // [mirror]
}
