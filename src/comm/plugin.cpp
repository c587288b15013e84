// Finds and loads communicators.
#include "comm/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "engines/common/library.h"
#include "engines/common/own_folder.h"
#include "ir/check.h"
#include "ir/environment.h"

namespace horngate::comm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "libhorngate_comm_", kEnding = ".so";

std::map<std::string, fs::path> plugins() {
  std::vector<fs::path> folders = engines::listed_folders("HORNGATE_COMM_PATH");
  if (const fs::path own = engines::own_folder(); !own.empty()) {
    folders.push_back(own / "horngate" / "comm");
    folders.push_back(own / ".." / "lib" / "horngate" /
                      "comm");  // a program with the library inside
  }
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (const fs::directory_entry& e : fs::directory_iterator(folder, error)) {
      const std::string file = e.path().filename().string();
      if (!file.starts_with(kPrefix) || !file.ends_with(kEnding)) continue;
      const size_t length = file.size() - kPrefix.size() - kEnding.size();
      if (length > 0) found.emplace(file.substr(kPrefix.size(), length), e.path());
    }
  }
  return found;
}

const hg_comm_api* api_in(const std::string& name, const fs::path& path) {
  const std::string who = "communicator " + name;
  std::string why;
  void* library = engines::open_library(path, RTLD_NOW | RTLD_LOCAL, why);
  check<RuntimeError>(library != nullptr, who, why);
  const auto entry = reinterpret_cast<hg_comm_main_fn>(dlsym(library, "hg_comm_main"));
  check<RuntimeError>(entry != nullptr, who, path.string(), " does not export hg_comm_main.");
  const hg_comm_api* api = entry(HG_COMM_ABI);
  check<RuntimeError>(api && api->abi == HG_COMM_ABI, who, path.string(),
                      " does not support interface version ", HG_COMM_ABI,
                      " of this library: it was built for another version of Horngate.");
  check<RuntimeError>(HG_HAS(api, close) && api->name && api->version && api->open && api->info &&
                          api->start && api->wait && api->test && api->abort && api->close,
                      who, path.string(), " lacks functions that every communicator must have.");
  return api;
}

int64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : 0;
}

}  // namespace

std::vector<std::string> plugin_names() {
  std::vector<std::string> out;
  for (const auto& [name, path] : plugins()) out.push_back(name);
  return out;
}

const hg_comm_api* load_plugin(const std::string& name, const std::string& origin) {
  static std::mutex mutex;
  static auto* loaded = new std::map<std::string, const hg_comm_api*>;  // never unloaded
  const std::lock_guard lock(mutex);
  if (const auto it = loaded->find(name); it != loaded->end()) return it->second;
  const auto all = plugins();
  const auto it = all.find(name);
  if (it == all.end()) {
    std::string names;
    for (const auto& [known, path] : all) names += (names.empty() ? "" : ", ") + known;
    fail("communicator", "there is no communicator \"", name, "\"",
         origin.empty() ? "" : " (from " + origin + ")",
         ". Communicators here: ", names.empty() ? "none" : names, ".");
  }
  return (*loaded)[name] = api_in(name, it->second);
}

Options options_of(const std::string& name) {
  constexpr const char* kVariable = "HORNGATE_COMM_OPTIONS";
  Options out;
  for (std::string_view rest = environment_text(kVariable); !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (one.empty()) continue;
    const size_t dot = one.find('.'), equals = one.find('=');
    check(dot != std::string_view::npos && equals != std::string_view::npos && dot < equals,
          kVariable, "must be a list of communicator.option=value; got \"", one, "\".");
    if (one.substr(0, dot) == name)
      out.emplace_back(one.substr(dot + 1, equals - dot - 1), one.substr(equals + 1));
  }
  return out;
}

Choice choose_plugin() {
  if (const std::string_view set = environment_text("HORNGATE_COMM"); !set.empty())
    return {set == "none" ? "" : std::string(set), "HORNGATE_COMM"};
  // Open MPI's mpirun; hydra and srun --mpi=pmi2; PMIx, as of srun --mpi=pmix.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (std::getenv(variable)) return number_in(variable) > 1 ? Choice{"mpi", variable} : Choice{};
  if (std::getenv("PMIX_RANK") && number_in("SLURM_NTASKS") != 1) return {"mpi", "PMIX_RANK"};
  return {};
}

}  // namespace horngate::comm
