// Engines by name.
#include "engines/registry.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "engines/common/library.h"
#include "engines/common/own_folder.h"
#include "engines/names.h"
#include "engines/native/arena.h"
#include "engines/native/engine.h"
#include "horngate/config.h"
#include "ir/abi.h"
#include "ir/check.h"
#include "ir/cpus.h"
#include "ir/environment.h"
#include "ir/fork.h"

namespace horngate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "libhorngate_engine_";

struct Registry {
  std::map<std::string, std::unique_ptr<Engine>> open;
  const Engine* current = nullptr;
};
constinit std::mutex registry_mutex;
const AtFork at_fork{registry_mutex, ForkOrder::registry};

/// Under the mutex.
Registry& registry() {
  static auto* r = new Registry;  // engines are never closed
  return *r;
}

/// Folders with plug-ins: HORNGATE_ENGINE_PATH first, then horngate/engines beside this library.
std::vector<fs::path> folders() {
  std::vector<fs::path> out = engines::listed_folders("HORNGATE_ENGINE_PATH");
  if (const fs::path own = engines::own_folder(); !own.empty())
    out.push_back(own / "horngate" / "engines");
  return out;
}

/// Names appear in messages, variables and module names, so a file with any other name is not a plug-in.
bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '_' || c == '-');
  });
}

std::map<std::string, fs::path> plugins() {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders()) {
    std::error_code error;
    for (const fs::directory_entry& e : fs::directory_iterator(folder, error)) {
      const std::string file = e.path().filename().string();
      const size_t prefix = std::strlen(kPrefix);
      if (file.rfind(kPrefix, 0) != 0 || file.size() < prefix + 4 ||
          file.substr(file.size() - 3) != ".so")
        continue;
      const std::string name = file.substr(prefix, file.size() - prefix - 3);
      if (is_name(name)) found.emplace(name, e.path());
    }
  }
  return found;
}

std::string known_names() {
  std::string names = "native";
  for (const auto& [name, path] : plugins()) names += ", " + name;
  return names;
}

/// How to get an engine that Horngate knows but does not have; for any other name, how to choose another, unless a
/// call chose it.
std::string advice(const std::string& name, bool is_call) {
  if (is_installable(name))
    return " Its plug-in is not part of this installation: put libhorngate_engine_" + name +
           ".so into a folder that HORNGATE_ENGINE_PATH lists, or set KERAS_BACKEND=native.";
  if (is_call) return "";
  return " Set KERAS_BACKEND to one of these, or change \"backend\" in keras.json.";
}

/// Whether it could be installed and is not, as opposed to being broken or sought in the wrong place.
bool is_absent(const EngineInfo& e) {
  std::string variable = "HORNGATE_" + e.name;
  for (char& c : variable) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return is_installable(e.name) && !e.problem.empty() && e.where.empty() &&
         environment_text(variable.c_str()).empty();
}

/// Runs `f`. Nothing from a plug-in may throw; if it does, that becomes our error.
template <class F>
auto guarded(std::string_view engine, const char* function, F&& f) -> decltype(f()) {
  std::string what;
  try {
    return f();
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "something other than a std::exception";
  }
  fail<RuntimeError>(text_of("engine ", engine), "its function ", function,
                     " threw an exception, which engines must not do: ", what);
}

std::string text_in(const hg_status& status) {
  const std::string text(status.text, strnlen(status.text, sizeof status.text));
  return text.empty() ? "no reason given." : text;
}

Engine open_api(const hg_engine_api* api, const std::string& name, const std::string& path) {
  const std::string who = "engine " + name;
  check<RuntimeError>(api != nullptr, who, path, " does not support interface version ", HG_ABI,
                      " of this library: it was built for another version of Horngate.");
  check<RuntimeError>(api->abi == HG_ABI, who, path, " has interface version ", api->abi,
                      "; this library has ", HG_ABI, ".");
  // Optional entries come last: the table of an older plug-in may end before them, but not before free_executable.
  check<RuntimeError>(HG_HAS(api, free_executable) && api->open && api->supports && api->compile &&
                          api->run && api->free_executable,
                      who, path, " lacks functions that every engine must have.");
  check<RuntimeError>(api->name && api->version, who, path, " has no name or no version.");
  if (api->caps & HG_CAP_OWN_MEMORY) {
    check<RuntimeError>(HG_HAS(api, copy) && api->alloc && api->free && api->copy, who, path,
                        " has memory of its own, but lacks alloc, free or copy.");
    check<RuntimeError>(!(api->caps & HG_CAP_SPARSE), who, path,
                        " cannot both have its own memory and take sparse values.");
  }
  Engine e;
  e.api = api;
  e.path = path;
  e.threads = static_cast<int32_t>(environment_count("HORNGATE_NUM_THREADS", kMostThreads));
  // Left to themselves, the libraries of plug-ins count CPUs and see no quota. Built-in engines ask for it by themselves.
  if (e.threads == 0 && !path.empty())
    if (const int usable = default_threads(); usable < allowed_cpus()) e.threads = usable;
  // Built-in engines take no options, and must work even if those in keras.json are wrong.
  const EngineOptions options = path.empty() ? EngineOptions() : engine_options(name);
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const hg_open how = {sizeof(hg_open), e.threads, static_cast<uint32_t>(keys.size()), keys.data(),
                       values.data()};
  hg_status status{};
  status.size = sizeof status;
  if (guarded(name, "open", [&] { return api->open(&how, &e.self, &status); }) != 0)
    fail<RuntimeError>(who, "could not be opened: ", text_in(status));
  check<RuntimeError>(api->name && api->version, who, path, " has no name or no version.");
  return e;
}

/// Whether a symbol is a function: calling data would crash the process.
bool is_function(void* address) {
  Dl_info info;
  ElfW(Sym)* symbol = nullptr;
  if (!dladdr1(address, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) || !symbol)
    return true;  // unknown
  const int type = ELF64_ST_TYPE(symbol->st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

const hg_engine_api* api_in(const std::string& name, const fs::path& path) {
  const std::string who = "engine " + name;
  if (const std::string fault = engines::fault_of_library(path); !fault.empty())
    fail<RuntimeError>(who, "the plug-in could not be loaded: ", path.string(), " ", fault, ".");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    fail<RuntimeError>(who, "the plug-in could not be loaded: ", why ? why : path.c_str(), ".");
  }
  void* const found = dlsym(library, "hg_engine_main");
  check<RuntimeError>(found != nullptr, who, path.string(), " does not export hg_engine_main.");
  check<RuntimeError>(is_function(found), who, path.string(),
                      " exports hg_engine_main, but it is not a function.");
  const auto entry = reinterpret_cast<hg_engine_main_fn>(found);
  return guarded(name, "hg_engine_main", [&] { return entry(HG_ABI); });
}

Engine load(const std::string& name, const fs::path& path) {
  return open_api(api_in(name, path), name, path.string());
}

/// What the engine drives, as far as open got.
std::string where_of(const hg_engine_api* api) {
  const bool has = api && api->abi == HG_ABI && HG_HAS(api, where) && api->where;
  return has ? api->where : "";
}

const Engine& find_locked(Registry& r, const std::string& name, const std::string& origin) {
  if (const auto it = r.open.find(name); it != r.open.end()) return *it->second;
  Engine e;
  if (name == "native") {
    e = open_api(hg_native_engine(HG_ABI), name, "");
    e.compile_graph = native::compile_graph;
  } else {
    const auto all = plugins();
    const auto it = all.find(name);
    const bool is_call = origin == "set_engine";
    const std::string from = origin.empty() || is_call ? "" : " (from " + origin + ")";
    check(it != all.end(), is_call ? origin : "engine", "there is no engine \"", name, "\"", from,
          ". Engines here: ", known_names(), ".", advice(name, is_call));
    try {
      e = load(name, it->second);
    } catch (const RuntimeError& why) {
      if (from.empty()) throw;
      throw RuntimeError(text_of(why.what(), " It was chosen", from,
                                 "; KERAS_BACKEND=native needs no other library."));
    }
  }
  return *(r.open[name] = std::make_unique<Engine>(std::move(e)));
}

/// Throws what an engine reports about a failed call.
[[noreturn]] void throw_of(const Engine& e, const char* function, hg_status& status) {
  const std::string text = text_in(status);
  if (status.text[0] == 0)
    fail<RuntimeError>(text_of("engine ", e.api->name), "its function ", function,
                       " failed: ", text);
  switch (status.code) {
    case HG_VALUE_ERROR: throw ValueError(text);
    case HG_TYPE_ERROR: throw TypeError(text);
    case HG_INDEX_ERROR: throw IndexError(text);
    case HG_NOT_IMPLEMENTED: throw NotImplementedError(text);
    case HG_INTERRUPTED: throw Interrupted(text);
    default: throw RuntimeError(text);
  }
}

/// Calls a function that fills a status; throws what it says.
template <class F>
void ask(const Engine& e, const char* function, F&& f) {
  hg_status status{};
  status.size = sizeof status;
  if (guarded(e.api->name, function, [&] { return f(&status); }) != 0)
    throw_of(e, function, status);
}

}  // namespace

bool Engine::supports(const hg_graph* graph, uint32_t node) const {
  return guarded(api->name, "supports", [&] { return api->supports(self, graph, node) != 0; });
}

void* Engine::compile(const Graph& graph) const {
  if (compile_graph) return compile_graph(graph);
  const CGraph c(graph);
  void* executable = nullptr;
  ask(*this, "compile",
      [&](hg_status* status) { return api->compile(self, c.get(), &executable, status); });
  return executable;
}

void Engine::run(void* executable, const hg_buffer* const* in, hg_buffer* const* out,
                 const hg_run* run) const {
  // The text of a status is long, so only its start is cleared on this path.
  hg_status status;
  status.size = sizeof status;
  status.code = 0;
  status.text[0] = 0;
  const int failed =
      guarded(api->name, "run", [&] { return api->run(executable, in, out, run, &status); });
  if (failed != 0) throw_of(*this, "run", status);
}

void Engine::free_executable(void* executable) const noexcept {
  try {
    api->free_executable(executable);
  } catch (...) {  // not allowed, but there is nobody to tell
  }
}

size_t Engine::executable_bytes(void* executable) const {
  if (!HG_HAS(api, executable_bytes) || !api->executable_bytes) return 0;
  return guarded(api->name, "executable_bytes", [&] { return api->executable_bytes(executable); });
}

void* Engine::alloc(size_t bytes) const {
  void* data = nullptr;
  ask(*this, "alloc", [&](hg_status* status) { return api->alloc(self, bytes, &data, status); });
  check<RuntimeError>(data != nullptr, text_of("engine ", api->name),
                      "its function alloc returned no memory for ", bytes, " bytes.");
  return data;
}

void Engine::free(void* data) const noexcept {
  try {
    api->free(self, data);
  } catch (...) {  // not allowed, but there is nobody to tell
  }
}

void Engine::copy(void* to, const void* from, size_t bytes, int direction) const {
  ask(*this, "copy",
      [&](hg_status* status) { return api->copy(self, to, from, bytes, direction, status); });
}

const Engine& native_engine() {
  static const Engine& e = find_engine("native");
  return e;
}

bool evaluate(const Graph& graph, std::span<const Array> in, Array& out) {
  const Engine& native = native_engine();
  std::vector<hg_type> types;
  std::vector<hg_buffer> buffers;
  std::vector<const hg_buffer*> list;
  for (ValueId v : graph.inputs) types.push_back(c_type(graph.values[v]));
  for (size_t i = 0; i < in.size(); ++i)
    buffers.push_back(buffer_of(types[i], in[i].nbytes(), in[i].raw()));
  for (const hg_buffer& b : buffers) list.push_back(&b);
  const hg_type type = c_type(graph.values[graph.outputs[0]]);
  hg_buffer result = buffer_of(type, out.nbytes(), out.raw());
  hg_buffer* const results = &result;
  void* executable = nullptr;
  bool is_done = false;
  try {
    executable = native.compile(graph);
    const hg_run alone{sizeof(hg_run), native.threads, nullptr, [](void*, int, const char*) {},
                       nullptr};
    native.run(executable, list.data(), &results, &alone);
    is_done = true;
  } catch (const Error&) {  // the run will report it, with its place
  }
  if (executable) native.free_executable(executable);
  return is_done;
}

void release_idle_memory() { native::release_arenas(); }

const Engine& find_engine(const std::string& name, const std::string& origin) {
  std::lock_guard lock(registry_mutex);
  Registry& r = registry();
  return find_locked(r, name, origin);
}

const Engine& current_engine() {
  std::lock_guard lock(registry_mutex);
  Registry& r = registry();
  if (!r.current) {
    const EngineChoice choice = engine_choice();
    r.current = &find_locked(r, choice.name, choice.source);
    take_engine_choice();
    announce_engine(choice.name);
  }
  return *r.current;
}

void reset_current_engine() {
  std::lock_guard lock(registry_mutex);
  Registry& r = registry();
  r.current = nullptr;
}

void announce_chosen_engine() {
  const std::string name = engine_choice().name;
  if (name == "native" || plugins().count(name)) announce_engine(name);
}

std::vector<EngineInfo> list_engines() {
  std::vector<EngineInfo> out;
  out.push_back({"native", "", native_engine().api->version, "", ""});
  for (const auto& [name, path] : plugins()) {
    EngineInfo info{name, path.string(), "", "", ""};
    try {
      info.version = find_engine(name).api->version;
    } catch (const Error& e) {
      info.problem = e.what();
    }
    try {
      info.where = where_of(api_in(name, path));
    } catch (const Error&) {  // info.problem already says so
    }
    info.absent = is_absent(info);
    out.push_back(info);
  }
  return out;
}

}  // namespace horngate
