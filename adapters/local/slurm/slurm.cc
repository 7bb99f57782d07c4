#include "adapters/local/slurm/slurm.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "adapters/local/slurm/programs.h"
#include "adapters/text/table.h"

namespace muster::local::slurm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNames[] = {"sacct", "sbatch", "scancel",
                                       "sinfo", "squeue", "srun"};
constexpr char kUsageText[] =
    "usage: muster slurm NAME [ARGUMENTS...]\n"
    "       muster slurm install FOLDER   links of these names to muster\n"
    "NAME is sacct, sbatch, scancel, sinfo, squeue or srun; NAME --help tells "
    "its options.\n";

// False, and it is told: another program has this name there.
bool Link(const fs::path& program, const fs::path& link, const Streams& to) {
  std::error_code error;
  fs::create_symlink(program, link, error);
  if (!error) return true;
  std::error_code none;
  if (fs::is_symlink(link, none) && fs::equivalent(link, program, none)) {
    return true;
  }
  to.err << "muster: " << text::Printable(link.string(), 1'000) << ": "
         << (error == std::errc::file_exists
                 ? "is another program, and stays as it is"
                 : error.message())
         << "\n";
  return false;
}

int Install(const std::string& folder, const Streams& to) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    to.err << "muster: /proc/self/exe: " << error.message() << "\n";
    return kRefused;
  }
  bool all = true;
  for (const std::string_view name : kNames) {
    all = Link(program, fs::path(folder) / name, to) && all;
  }
  return all ? kDone : kRefused;
}

}  // namespace

std::span<const std::string_view> Names() { return kNames; }

std::string_view NameOf(std::string_view path) {
  const std::string_view last = path.substr(path.rfind('/') + 1);
  const auto* it = std::ranges::find(kNames, last);
  return it == std::end(kNames) ? std::string_view() : *it;
}

int Run(std::string_view name, const std::vector<std::string>& arguments,
        const std::string& socket, const Streams& to) {
  const Start start{arguments, socket, to};
  if (name == "sacct") return Sacct(start);
  if (name == "sbatch") return Sbatch(start);
  if (name == "scancel") return Scancel(start);
  if (name == "sinfo") return Sinfo(start);
  if (name == "squeue") return Squeue(start);
  return Srun(start);
}

int RunSlurm(const std::vector<std::string>& arguments,
             const std::string& socket, const Streams& to) {
  const std::string first = arguments.empty() ? "" : arguments[0];
  if (std::ranges::find(kNames, first) != std::end(kNames)) {
    return Run(first, {arguments.begin() + 1, arguments.end()}, socket, to);
  }
  if (first == "install" && arguments.size() == 2) {
    return Install(arguments[1], to);
  }
  const bool help = first == "--help" || first == "-h";
  (help ? to.out : to.err) << kUsageText;
  return help ? kDone : kUsage;
}

}  // namespace muster::local::slurm
