// Headers, generated messages and both libraries come from the package: a gang
// goes through its Protobuf message, a state through a snapshot.
#include <cstdio>

#include "muster/muster.h"
#include "muster/wire/proto.h"
#include "muster/wire/snapshot.h"

int main() {
  const muster::Gang gang{.key = "train", .queue = "lab"};
  const auto message = muster::wire::ToMessage(gang);
  muster::Gang back;
  const bool same_gang = message.ok() && message->key() == gang.key &&
                         muster::wire::FromMessage(*message, &back).ok() &&
                         back == gang;

  const muster::SchedulerState state;
  const auto snapshot = muster::wire::EncodeSnapshot(state);
  const bool same_state =
      snapshot.ok() && muster::wire::DecodeSnapshot(*snapshot).value() == state;

  if (!same_gang) std::fprintf(stderr, "wire_host: another gang came back\n");
  if (!same_state) std::fprintf(stderr, "wire_host: another state came back\n");
  return same_gang && same_state ? 0 : 1;
}
