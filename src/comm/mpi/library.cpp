// Finds the MPI library of the launcher and binds it.
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "../../engines/common/library.h"

namespace horngate::comm::mpi {
namespace {

namespace fs = std::filesystem;

// Open MPI 4 and 5; the standard ABI of MPI 5; MPICH and its relatives.
constexpr const char* kNames[] = {"libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0",
                                  "libmpi.so.12"};
constexpr const char* kSubfolders[] = {"", "lib", "lib64", "lib/x86_64-linux-gnu",
                                       "lib/aarch64-linux-gnu"};

fs::path library_in(const fs::path& folder) {
  std::error_code ignored;
  for (const char* sub : kSubfolders)
    for (const char* name : kNames)
      if (const fs::path file = folder / sub / name; fs::exists(file, ignored)) return file;
  return {};
}

/// One that is loaded already, perhaps by mpi4py: a process can have only one.
fs::path loaded_library() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        const fs::path path = info->dlpi_name ? info->dlpi_name : "";
        const std::string name = path.filename().string();
        // An engine may bring a stand-in under this name.
        const bool is_ours = path.parent_path().parent_path().filename() == "horngate";
        for (const char* known : kNames)
          if (name.rfind(known, 0) == 0 && !is_ours)
            *static_cast<std::string*>(out) = path.string();
        return 0;
      },
      &found);
  return found;
}

/// The parent of a process, from /proc.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string all;
  std::getline(file, all);
  std::istringstream rest(all.substr(std::min(all.size(), all.rfind(')') + 2)));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

/// That of the launcher: mpirun, or a daemon of it, is among our ancestors, and its library is near it.
fs::path launcher_library() {
  for (pid_t pid = getppid(); pid > 1; pid = parent_of(pid)) {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", error);
    if (error) continue;
    const std::string name = program.filename().string();
    bool is_launcher = false;
    for (const char* known :
         {"prterun", "prted", "mpirun", "mpiexec", "orterun", "orted", "hydra_pmi_proxy"})
      is_launcher = is_launcher || name.rfind(known, 0) == 0;
    if (!is_launcher) continue;
    if (const fs::path found = library_in(program.parent_path().parent_path()); !found.empty())
      return found;
  }
  return {};
}

fs::path home_library() {
  const fs::path home = engines::horngate_home();
  if (home.empty()) return {};
  for (const char* name : {"openmpi", "mpich"})
    if (const fs::path found = library_in(home / "comm" / name); !found.empty()) return found;
  return {};
}

struct Binder {
  void* library;
  std::string missing;

  template <class F>
  void function(F*& to, const char* name) {
    to = reinterpret_cast<F*>(dlsym(library, name));
    if (!to && missing.empty()) missing = name;
  }
  Handle symbol(const char* name) {
    void* const at = dlsym(library, name);
    if (!at && missing.empty()) missing = name;
    return reinterpret_cast<Handle>(at);
  }
};

// Element types of engine.h without float16, bfloat16 and bool, which no library adds.
constexpr int kNamed[] = {HG_FLOAT32, HG_FLOAT64, HG_INT8,   HG_INT16,  HG_INT32,
                          HG_INT64,   HG_UINT8,   HG_UINT16, HG_UINT32, HG_UINT64};

void set_open_mpi(Library& m, Binder& b) {
  m.is_open_mpi = true;
  m.comm_world = b.symbol("ompi_mpi_comm_world");
  m.byte = b.symbol("ompi_mpi_byte");
  m.errors_return = b.symbol("ompi_mpi_errors_return");
  constexpr const char* kTypes[] = {"float",   "double",  "int8_t",   "int16_t",  "int32_t",
                                    "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  for (size_t i = 0; i < std::size(kNamed); ++i)
    m.types[kNamed[i]] = b.symbol((std::string("ompi_mpi_") + kTypes[i]).c_str());
  constexpr const char* kOperations[] = {"sum", "prod", "min", "max"};
  for (size_t i = 0; i < std::size(kOperations); ++i)
    m.operations[i] = b.symbol((std::string("ompi_mpi_op_") + kOperations[i]).c_str());
}

/// Handles that are numbers, of the element types in kNamed and of sum, prod, min, max.
void set_numbers(Library& m, Handle world, Handle byte, Handle errors,
                 const std::array<Handle, 10>& types, const std::array<Handle, 4>& operations) {
  m.comm_world = world;
  m.byte = byte;
  m.errors_return = errors;
  for (size_t i = 0; i < types.size(); ++i) m.types[kNamed[i]] = types[i];
  std::copy(operations.begin(), operations.end(), m.operations);
}

void set_standard(Library& m) {
  set_numbers(m, 0x101, 0x247, 0x143,
              {0x210, 0x214, 0x240, 0x248, 0x250, 0x258, 0x241, 0x249, 0x251, 0x259},
              {0x21, 0x24, 0x22, 0x23});
  m.serialized = 2048;
  m.multiple = 4096;
  m.tag_ub = 501;
}

void set_mpich(Library& m) {
  set_numbers(m, 0x44000000, 0x4c00010d, 0x54000001,
              {0x4c00040a, 0x4c00080b, 0x4c000137, 0x4c000238, 0x4c000439, 0x4c00083a, 0x4c00013b,
               0x4c00023c, 0x4c00043d, 0x4c00083e},
              {0x58000003, 0x58000004, 0x58000002, 0x58000001});
  m.tag_ub = 0x64400001;
  m.in_place = reinterpret_cast<void*>(-1);
}

void bind_functions(Library& m, Binder& b) {
  b.function(m.Init_thread, "MPI_Init_thread");
  b.function(m.Initialized, "MPI_Initialized");
  b.function(m.Finalized, "MPI_Finalized");
  b.function(m.Finalize, "MPI_Finalize");
  b.function(m.Query_thread, "MPI_Query_thread");
  b.function(m.Get_library_version, "MPI_Get_library_version");
  b.function(m.Error_string, "MPI_Error_string");
  b.function(m.Comm_dup, "MPI_Comm_dup");
  b.function(m.Comm_free, "MPI_Comm_free");
  b.function(m.Comm_rank, "MPI_Comm_rank");
  b.function(m.Comm_size, "MPI_Comm_size");
  b.function(m.Comm_set_errhandler, "MPI_Comm_set_errhandler");
  b.function(m.Comm_get_attr, "MPI_Comm_get_attr");
  b.function(m.Get_count, "MPI_Get_count");
  b.function(m.Isend, "MPI_Isend");
  b.function(m.Irecv, "MPI_Irecv");
  b.function(m.Iallreduce, "MPI_Iallreduce");
  b.function(m.Test, "MPI_Test");
  b.function(m.Cancel, "MPI_Cancel");
}

/// Its first line, without what follows a comma: "Open MPI v5.0.11".
std::string version_of(const Library& m) {
  std::vector<char> text(16384);
  int length = 0;
  if (m.Get_library_version(text.data(), &length) != 0) return "";
  std::string out(text.data());
  out.resize(std::min({out.size(), out.find(','), out.find('\n')}));
  for (char& c : out)
    if (c == '\t') c = ' ';
  return out;
}

std::unique_ptr<Library> bind(const fs::path& path, std::string& why) {
  // Components that Open MPI 4 loads later look for its symbols among the global ones.
  void* library = nullptr;
  if (path.has_parent_path()) {
    library = engines::open_library(path, RTLD_NOW | RTLD_GLOBAL, why);
  } else if (!(library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))) {
    const char* text = dlerror();
    why = text ? text : path.c_str();
  }
  if (!library) return nullptr;
  auto m = std::make_unique<Library>();
  m->path = path.string();
  Binder b{library, ""};
  bind_functions(*m, b);
  if (dlsym(library, "ompi_mpi_comm_world"))
    set_open_mpi(*m, b);
  else if (path.filename().string().rfind("libmpi_abi", 0) == 0)
    set_standard(*m);
  else
    set_mpich(*m);
  if (!b.missing.empty()) {
    why = path.string() + " has no " + b.missing + ".";
    return nullptr;
  }
  m->version = version_of(*m);
  return m;
}

}  // namespace

std::string Library::error_text(int code) const {
  char text[1024] = {};
  int length = 0;
  if (Error_string(code, text, &length) != 0) return "error " + std::to_string(code);
  return text;
}

const Library* load_library(const std::string& wanted, std::string& why) {
  static std::unique_ptr<Library> loaded;
  if (loaded) return loaded.get();
  fs::path path = loaded_library();
  if (!wanted.empty()) {
    std::error_code ignored;
    path = fs::is_directory(wanted, ignored) ? library_in(wanted) : fs::path(wanted);
    if (path.empty()) {
      why = "there is no MPI library in " + wanted + ".";
      return nullptr;
    }
  }
  if (path.empty()) path = launcher_library();
  if (path.empty()) path = home_library();
  std::vector<fs::path> candidates(std::begin(kNames), std::end(kNames));
  if (!path.empty()) candidates = {path};
  for (const fs::path& one : candidates)
    if ((loaded = bind(one, why))) return loaded.get();
  if (path.empty())
    why =
        "no MPI library was found. `horngate comm install openmpi` gets one; HORNGATE_MPI names "
        "the folder of "
        "another.";
  return nullptr;
}

}  // namespace horngate::comm::mpi
