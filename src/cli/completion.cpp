// horngate completion bash: what to write into .bashrc, made from the table of commands.
#include <horngate/engines.h>
#include <horngate/error.h>

#include <cstdio>

#include "commands.h"

namespace horngate::cli {

int completion(const Arguments& arguments) {
  if (arguments != Arguments{"bash"}) throw ValueError(usage("completion"));
  std::string names = "help", cases, installable;
  for (const EngineInfo& e : list_engines())
    if (!e.path.empty() && e.name != "null")
      installable += (installable.empty() ? "" : " ") + e.name;
  for (const Command& c : commands()) {
    names += std::string(" ") + c.name;
    cases += std::string("    ") + c.name + ") words='" + c.words + " --help' ;;\n";
  }
  // Options once a word begins with -. Without words Bash offers files.
  std::printf(
      "_horngate() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} words=\n"
      "  COMPREPLY=()\n"
      "  case ${COMP_WORDS[1]} in\n"
      "%s"
      "  esac\n"
      "  ((COMP_CWORD == 1)) && words='%s'\n"
      "  [[ $current == -* ]] || words=$(for w in $words; do [[ $w == -* ]] || "
      "echo $w; done)\n"
      "  if ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[1]} == engines ]]; then words='%s'; fi\n"
      "  [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}\n"
      "complete -o default -F _horngate horngate\n",
      cases.c_str(), names.c_str(), installable.c_str());
  return 0;
}

}  // namespace horngate::cli
