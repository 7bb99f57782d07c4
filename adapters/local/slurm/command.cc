#include "adapters/local/slurm/command.h"

#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "adapters/text/table.h"
#include "muster/version.h"

namespace muster::local::slurm {
namespace {

constexpr size_t kMostMessage = 4'096;

}  // namespace

CLI::Option* AddOption(CLI::App* app, const char* names, Value value,
                       std::string* to, const char* help) {
  // A value that may be left out is never the next word.
  if (value == Value::kSome) return app->add_option(names, *to, help);
  return app->add_flag(names, *to, help);
}

Command::Command(const std::string& name, const std::string& help)
    : app_(help), name_(name) {
  app_.name(name);
  app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  const bool heads = name == "squeue" || name == "sinfo";  // -h: no headings.
  app_.set_help_flag(heads ? "--help" : "-h,--help", "This text");
  app_.set_version_flag("-V,--version",
                        std::string("muster ") + MUSTER_VERSION);
}

void Command::Add(std::span<const OtherOption> options) {
  for (const OtherOption& option : options) {
    CLI::Option* parsed = AddOption(&app_, option.names, option.value,
                                    &values_.emplace_back(), option.why);
    parsed->group(option.refused ? "Refused" : "Accepted, without effect");
    others_.push_back({&option, parsed});
  }
}

bool Command::Parse(const std::vector<std::string>& arguments,
                    const Streams& to, std::vector<std::string>* words,
                    int* code) {
  if (words != nullptr) app_.prefix_command();
  const auto mark = std::ranges::find(arguments, "--");
  try {
    std::vector<std::string> options(arguments.begin(), mark);
    std::ranges::reverse(options);
    app_.parse(std::move(options));
    const std::vector<std::string> rest = app_.remaining();
    // What looks like an option and is none begins no command.
    if (!rest.empty() && (words == nullptr || rest[0].starts_with('-'))) {
      throw CLI::ExtrasError(app_.get_name(), {rest[0]});
    }
    if (words != nullptr) {
      words->assign(rest.begin(), rest.end());
      if (mark != arguments.end()) {
        // "git log -- file" has its own.
        words->insert(words->end(), rest.empty() ? mark + 1 : mark,
                      arguments.end());
      }
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      *code = app_.exit(error, to.out, to.err);
    } else {
      *code = Fail(to, error.what());
      to.err << "Try '" << name_ << " --help'\n";
    }
    return false;
  }
  for (const Given& given : others_) {
    if (given.parsed->count() == 0) continue;
    const std::string message =
        absl::StrCat(given.parsed->get_name(), ": ", given.option->why);
    if (given.option->refused) {
      *code = Fail(to, absl::StrCat(message, ": not supported"));
      return false;
    }
    Warn(to, absl::StrCat(message, ": ignored"));
  }
  return true;
}

int Command::Fail(const Streams& to, std::string_view message) const {
  to.err << name_ << ": error: " << text::Printable(message, kMostMessage)
         << "\n";
  return kError;
}

void Command::Warn(const Streams& to, std::string_view message) const {
  to.err << name_ << ": warning: " << text::Printable(message, kMostMessage)
         << "\n";
}

}  // namespace muster::local::slurm
