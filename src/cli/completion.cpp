// horngate completion bash: what to write into .bashrc, made from the table of commands.
#include <horngate/engines.h>
#include <horngate/error.h>

#include <cstdio>

#include "commands.h"

namespace horngate::cli {

int completion(const Arguments& arguments) {
  if (arguments != Arguments{"bash"})
    throw ValueError(
        "usage: horngate completion bash\n"
        "In .bashrc: eval \"$(horngate completion bash)\"");
  std::string names = "help", cases, installable;
  for (const EngineInfo& e : list_engines())
    if (!e.path.empty() && e.name != "null")
      installable += (installable.empty() ? "" : " ") + e.name;
  for (const Command& c : commands()) {
    names += std::string(" ") + c.name;
    if (*c.words) cases += std::string("    ") + c.name + ") words='" + c.words + "' ;;\n";
  }
  // Without words Bash offers files.
  std::printf(
      "_horngate() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} words=\n"
      "  COMPREPLY=()\n"
      "  case ${COMP_WORDS[1]} in\n"
      "%s"
      "  esac\n"
      "  ((COMP_CWORD == 1)) && words='%s'\n"
      "  if ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[1]} == engines ]]; then words='%s'; fi\n"
      "  [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}\n"
      "complete -o default -F _horngate horngate\n",
      cases.c_str(), names.c_str(), installable.c_str());
  return 0;
}

}  // namespace horngate::cli
