#include "adapters/local/client/submitted_code.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

// Old snapshots that one submission looks at.
constexpr size_t kMostOld = 8;

std::string About(const CodeFiles& code) {
  std::string about = code.root;
  if (!code.commit.empty()) {
    absl::StrAppend(&about, " at ", code.commit.substr(0, 12));
  }
  if (code.uncommitted > 0) {
    absl::StrAppend(&about, ", ", code.uncommitted,
                    code.uncommitted == 1 ? " file" : " files",
                    " not committed");
  }
  return about;
}

void KeepPlace(const fs::path& directory, std::string* file) {
  if (!file->empty()) *file = (directory / *file).lexically_normal().string();
}

void TellOriginals(Session* session, const CodeFiles& code,
                   const SubmitOptions& options) {
  for (const std::string& word : options.command) {
    if (word.starts_with(code.root + "/")) {
      session->err() << "muster: note: '" << word
                     << "' names the original, not its snapshot\n";
    }
  }
}

}  // namespace

SubmittedCode::SubmittedCode(CodeSnapshot snapshot)
    : snapshot_(std::move(snapshot)) {}

SubmittedCode::~SubmittedCode() {
  if (!kept_) DropSnapshot(snapshot_);
}

absl::StatusOr<std::unique_ptr<SubmittedCode>> SubmittedCode::Take(
    Session* session, SubmitOptions* options) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const std::string store = SnapshotStore();
  if (error || store.empty()) {
    return absl::FailedPreconditionError(
        "--snapshot: there is no working directory, or no home to keep it in");
  }
  const auto code = FindCode(here.string());
  if (!code.ok()) return code.status();
  const fs::path runs_in = (here / options->directory).lexically_normal();
  const fs::path inside = runs_in.lexically_relative(code->root);
  if (inside.empty() || *inside.begin() == "..") {
    return absl::InvalidArgumentError(
        absl::StrCat("--chdir: '", options->directory,
                     "' is not in the snapshot of '", code->root, "'"));
  }
  auto snapshot = TakeSnapshot(*code, store);
  if (!snapshot.ok()) return snapshot.status();
  TellOriginals(session, *code, *options);
  KeepPlace(runs_in, &options->output);
  KeepPlace(runs_in, &options->error);
  options->directory =
      (fs::path(snapshot->path) / inside).lexically_normal().string();
  options->code = About(*code);
  return std::unique_ptr<SubmittedCode>(
      new SubmittedCode(*std::move(snapshot)));
}

void SubmittedCode::Keep(Session* session, const std::vector<uint64_t>& jobs) {
  kept_ = true;
  const std::string daemon = session->connection().socket();
  const absl::Status noted = NoteJobs(snapshot_, daemon, jobs);
  if (!noted.ok()) session->err() << "muster: " << noted.message() << "\n";
  DropOldSnapshots(
      SnapshotStore(), daemon, static_cast<Time>(session->Now()) * kSecond,
      kMostOld, [session](uint64_t job) {
        const auto answer = session->Ask("GET", absl::StrCat("/v1/jobs/", job));
        return answer.ok() ? answer->contains("finished")
                           : absl::IsNotFound(answer.status());
      });
}

}  // namespace muster::local
