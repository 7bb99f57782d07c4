#include "lib/wire/recover.h"

#include <utility>

namespace muster::wire {

absl::StatusOr<internal::WholeJournal> internal::OpenWhole(
    const std::string& path) {
  absl::StatusOr<LockedFile> file = LockedFile::Open(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<JournalReader> reader = JournalReader::Open(path);
  if (!reader.ok()) return reader.status();
  JournalRecord record;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = reader->Next(&record);
  if (!more.ok()) return more.status();
  const std::optional<TornTail> torn = reader->torn_tail();
  if (torn) {
    if (absl::Status s = file->file().Truncate(torn->offset); !s.ok()) return s;
    if (absl::Status s = file->file().Sync(); !s.ok()) return s;
  }
  absl::StatusOr<uint64_t> size = file->file().Size();
  if (!size.ok()) return size.status();
  return WholeJournal{.file = *std::move(file), .size = *size, .cut = torn};
}

absl::StatusOr<std::optional<TornTail>> RecoverJournal(
    const std::string& path) {
  absl::StatusOr<internal::WholeJournal> journal = internal::OpenWhole(path);
  if (!journal.ok()) return journal.status();
  return journal->cut;
}

}  // namespace muster::wire
