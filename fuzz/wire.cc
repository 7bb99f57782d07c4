// Journals and snapshots.
#include <algorithm>
#include <string>

#include "fuzz/targets.h"
#include "lib/wire/format.h"
#include "muster/wire/convert.h"
#include "muster/wire/replay.h"
#include "muster/wire/snapshot.h"

namespace muster::fuzz {
namespace {

using namespace wire::internal;  // Framing.

// The scheduler is sound, and so are its next passes.
std::string LivesOn(Scheduler scheduler) {
  Plan plan;
  for (int pass = 0; pass < 3; ++pass) {
    const absl::Status valid = scheduler.Validate();
    if (!valid.ok()) return valid.ToString();
    scheduler.Schedule(scheduler.now() + kSecond, &plan);
  }
  const SchedulerState state = scheduler.State();
  const auto again = Scheduler::Restore(state);
  if (!again.ok()) return "its state: " + again.status().ToString();
  if (again->StateHash() != scheduler.StateHash()) {
    return "restored: " + wire::Difference(state, again->State());
  }
  return "";
}

std::string ReadJournal(std::string_view bytes) {
  for (const auto mode :
       {wire::ReplayMode::kVerify, wire::ReplayMode::kFollow}) {
    auto reader = wire::JournalReader::OfBytes(bytes);
    if (!reader.ok()) return "";
    auto replayed = wire::Replay(&*reader, mode);
    if (!replayed.ok()) continue;
    const std::string wrong = LivesOn(std::move(replayed->scheduler));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string ReadSnapshot(std::string_view bytes) {
  const auto state = wire::DecodeSnapshot(bytes);
  if (!state.ok()) return "";
  const auto encoded = wire::EncodeSnapshot(*state);
  if (!encoded.ok()) return encoded.status().ToString();
  const auto again = wire::DecodeSnapshot(*encoded);
  if (!again.ok()) return "written and read: " + again.status().ToString();
  const std::string difference = wire::Difference(*state, *again);
  if (!difference.empty()) return "written and read: " + difference;
  auto scheduler = Scheduler::Restore(*state);
  return scheduler.ok() ? LivesOn(*std::move(scheduler)) : "";
}

void PutPreamble(std::string_view magic, std::string* bytes) {
  bytes->replace(0, std::min(bytes->size(), kPreambleSize),
                 MakePreamble(magic));
}

std::string WholeJournal(std::string_view input) {
  std::string bytes(input);
  PutPreamble(kJournalMagic, &bytes);
  for (size_t at = kPreambleSize; at + kFrameSize < bytes.size();) {
    const size_t length = std::min<size_t>(
        GetFixed<uint32_t>(bytes.data() + at), bytes.size() - at - kFrameSize);
    PutFrame(std::string_view(bytes).substr(at + kFrameSize, length),
             bytes.data() + at);
    at += kFrameSize + length;
  }
  return bytes;
}

std::string WholeSnapshot(std::string_view input) {
  constexpr size_t kLengthAt = kPreambleSize + 4, kStateAt = kLengthAt + 8;
  std::string bytes(input);
  PutPreamble(kSnapshotMagic, &bytes);
  if (bytes.size() < kStateAt) return bytes;
  PutFixed<uint64_t>(bytes.size() - kStateAt, bytes.data() + kLengthAt);
  PutFixed<uint32_t>(Crc32c(std::string_view(bytes).substr(kLengthAt)),
                     bytes.data() + kPreambleSize);
  return bytes;
}

}  // namespace

std::string Journal(std::string_view input) {
  const std::string wrong = ReadJournal(input);
  return wrong.empty() ? ReadJournal(WholeJournal(input)) : wrong;
}

std::string Snapshot(std::string_view input) {
  const std::string wrong = ReadSnapshot(input);
  return wrong.empty() ? ReadSnapshot(WholeSnapshot(input)) : wrong;
}

}  // namespace muster::fuzz
