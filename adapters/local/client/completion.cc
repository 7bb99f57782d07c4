#include "adapters/local/client/completion.h"

#include <CLI/CLI.hpp>

namespace muster::local {
namespace {

std::string OptionsOf(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words += (words.empty() ? "--" : " --") + name;
    }
  }
  return words;
}

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += "    " + command->get_name() + ") words=\"" + OptionsOf(*command) +
             "\" ;;\n";
  }
  return "_muster() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} words i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case ${COMP_WORDS[i]} in\n"
         "      --) return ;;\n"
         "    esac\n"
         "  done\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases + "    *) words=\"" + commands + " " + OptionsOf(app) +
         "\" ;;\n"
         "  esac\n"
         "  if [[ $COMP_CWORD -eq 1 ]]; then words=\"" +
         commands + " " + OptionsOf(app) +
         "\"; fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _muster muster\n";
}

}  // namespace muster::local
