#include "lib/wire/recover.h"

#include <utility>

#include "lib/base/status_macros.h"

namespace muster::wire {

absl::StatusOr<internal::WholeJournal> internal::OpenWhole(
    const std::string& path) {
  MUSTER_ASSIGN_OR_RETURN(LockedFile file, LockedFile::Open(path));
  MUSTER_ASSIGN_OR_RETURN(JournalReader reader, JournalReader::Open(path));
  JournalRecord record;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = reader.Next(&record);
  if (!more.ok()) return more.status();
  const std::optional<TornTail> torn = reader.torn_tail();
  if (torn) {
    if (absl::Status s = file.file().Truncate(torn->offset); !s.ok()) return s;
    if (absl::Status s = file.file().Sync(); !s.ok()) return s;
  }
  MUSTER_ASSIGN_OR_RETURN(uint64_t size, file.file().Size());
  return WholeJournal{.file = std::move(file), .size = size, .cut = torn};
}

absl::StatusOr<std::optional<TornTail>> RecoverJournal(
    const std::string& path) {
  MUSTER_ASSIGN_OR_RETURN(internal::WholeJournal journal,
                          internal::OpenWhole(path));
  return journal.cut;
}

}  // namespace muster::wire
