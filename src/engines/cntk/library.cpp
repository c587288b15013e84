// Finding, loading and binding the CNTK library.
#include "cntk/library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "common/elf_check.h"
#include "common/folders.h"
#include "common/own_folder.h"

namespace horngate::cntk {
namespace {

constexpr const char* kCore = "libCntk.Core-2.7.so";
constexpr const char* kMkl = "libmklml_intel.so";
constexpr const char* kOpenMp = "libiomp5.so";
constexpr const char* kFiles[] = {"libCntk.Core-2.7.so", "libCntk.Math-2.7.so",
                                  "libCntk.PerformanceProfiler-2.7.so", "libiomp5.so",
                                  "libmklml_intel.so"};
constexpr const char* kGet =
    " Get it with \"horngate engines install cntk\", or set HORNGATE_CNTK to the folder of the "
    "unpacked wheel cntk 2.7.post2.";

bool exists(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0;
}

/// The folder with the libraries: `folder` itself, or where a wheel or an installed package has them.
std::string libs_in(const std::string& folder) {
  for (const char* sub : {"", "/cntk/libs", "/libs"})
    if (exists(folder + sub + "/" + kCore)) return folder + sub;
  return {};
}

/// Empty, or what is wrong with a library, to follow its path.
std::string fault_of(const std::string& path) {
  const engines::LibraryFile f = engines::measure_library(path);
  if (!f.exists) return "is missing.";
  return f.is_whole ? "" : f.fault + ".";
}

/// Checks that the five files exist and are whole: the loader would crash on a truncated one.
void check_files(const std::string& folder) {
  for (const char* file : kFiles) {
    const std::string path = folder + "/" + file;
    if (const std::string why = fault_of(path); !why.empty())
      throw std::runtime_error(path + " " + why + " Install CNTK again." + kGet);
  }
}

/// Stand-ins, beside this plug-in, for the MPI libraries that CNTK names but does not need here.
void load_stand_ins() {
  const std::filesystem::path own = engines::own_folder();
  if (own.empty()) throw std::runtime_error("cannot find the plug-in's own folder.");
  for (const char* file : {"libmpi.so.12", "libmpi_cxx.so.1"})
    if (!dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) &&
        !dlopen((own / "cntk" / file).c_str(), RTLD_NOW | RTLD_LOCAL))
      throw std::runtime_error(std::string("a part of the plug-in could not be loaded: ") +
                               dlerror() + ".");
}

bool is_intel() {
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.rfind("vendor_id", 0) == 0) return line.find("GenuineIntel") != std::string::npos;
  return true;
}

void* open_core(const std::string& folder) {
  // Read while the libraries load: idle OpenMP threads must not spin, and the MKL of 2018 takes its slow
  // path on other makers' processors unless told not to.
  setenv("KMP_BLOCKTIME", "0", 0);
  if (!is_intel()) setenv("MKL_DEBUG_CPU_TYPE", "5", 0);
  int flags = RTLD_LAZY | RTLD_LOCAL;
  // So that the stand-ins come first and swallow its messages to stderr. Sanitizers do not allow it.
  if (!dlsym(RTLD_DEFAULT, "__asan_init") && !dlsym(RTLD_DEFAULT, "__tsan_init"))
    flags |= RTLD_DEEPBIND;
  void* handle = dlopen((folder + "/" + kCore).c_str(), flags);
  if (!handle) {
    const char* why = dlerror();
    throw std::runtime_error("CNTK could not be loaded: " + std::string(why ? why : folder) + ".");
  }
  return handle;
}

// Parts of mangled names.
const std::string kName = "RKNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEEE";

class Binder {
 public:
  explicit Binder(void* handle) : handle_(handle) {}
  template <class F>
  void operator()(F*& slot, const std::string& symbol) {
    void* p = dlsym(handle_, symbol.c_str());
    if (!p && missing_.empty()) missing_ = symbol;
    slot = reinterpret_cast<F*>(p);
  }
  /// A function of namespace CNTK whose last argument is a name.
  template <class F>
  void op(F*& slot, const std::string& name, const std::string& arguments) {
    (*this)(slot, "_ZN4CNTK" + std::to_string(name.size()) + name + "E" + arguments + kName);
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

constexpr const char* kUnaryNames[] = {"Abs",     "Negate", "Exp",  "Log",     "Sqrt",
                                       "Sin",     "Cos",    "Tanh", "Atanh",   "Sinh",
                                       "Sigmoid", "Floor",  "Ceil", "ToBatch", "UnpackBatch"};
constexpr const char* kBinaryNames[] = {
    "Plus",  "Minus",    "ElementTimes", "ElementDivide", "ElementMax", "ElementMin",  "Pow",
    "Equal", "NotEqual", "Less",         "LessEqual",     "Greater",    "GreaterEqual"};
static_assert(std::size(kUnaryNames) == static_cast<size_t>(Un::kCount));
static_assert(std::size(kBinaryNames) == static_cast<size_t>(Bin::kCount));

void bind_values(Binder& bind, Library& l) {
  const std::string view = "_ZN4CNTK11NDArrayView", value = "_ZN4CNTK5Value";
  bind(l.make_axis, "_ZN4CNTK4AxisC1Ei");
  bind(l.make_view, view + "C1ENS_8DataTypeERKNS_7NDShapeEPvmRKNS_16DeviceDescriptorEb");
  bind(l.drop_view, view + "D1Ev");
  bind(l.make_value, value + "C1ERKSt10shared_ptrINS_11NDArrayViewEE");
  bind(l.drop_value, value + "D1Ev");
  bind(l.make_uid, "_ZN4CNTK8Internal11GenerateUidB5cxx11ENS_12VariableKindE");
  bind(l.make_variable,
       "_ZN4CNTK8VariableC1ERKNS_7NDShapeENS_12VariableKindENS_8DataTypeERKSt10shared_ptrINS_"
       "11NDArrayViewEEbRKSt6vectorINS_4AxisESaISC_EEbRKNSt7__cxx1112basic_stringIwSt11char_"
       "traitsIwESaIwEEESO_");
  bind(l.variable_of, "_ZN4CNTK8VariableC1ERKSt10shared_ptrINS_8FunctionEE");
  bind(l.outputs, "_ZNK4CNTK8Function7OutputsEv");
  bind(l.record_update, "_ZN4CNTK9Parameter17RecordValueUpdateEv");
  bind(l.shape, "_ZNK4CNTK8Variable5ShapeEv");
  bind(l.evaluate,
       "_ZN4CNTK8Function8EvaluateERKSt13unordered_mapINS_8VariableESt10shared_ptrINS_5ValueEESt4"
       "hashIS2_ESt8equal_toIS2_ESaISt4pairIKS2_S5_EEERSE_RKNS_16DeviceDescriptorE");
}

void bind_ops(Binder& bind, Library& l) {
  const std::string v = "RKNS_8VariableE", axis = "RKNS_4AxisE", shape = "RKNS_7NDShapeE";
  const std::string axes = "RKSt6vectorINS_4AxisESaIS4_EE";
  for (size_t i = 0; i < std::size(kUnaryNames); ++i) bind.op(l.unary[i], kUnaryNames[i], v);
  for (size_t i = 0; i < std::size(kBinaryNames); ++i)
    bind.op(l.binary[i], kBinaryNames[i], v + "S2_");
  bind.op(l.select, "ElementSelect", v + "S2_S2_");
  bind.op(l.times, "Times", v + "S2_mi");
  bind.op(l.transpose_times, "TransposeTimes", v + "S2_m");
  bind.op(l.argmax, "Argmax", v + axis);
  bind.op(l.argmin, "Argmin", v + axis);
  bind(l.reduce,
       "_ZN4CNTK8Internal14ReduceElementsERKNS_8VariableERKNSt7__cxx1112basic_stringIwSt11char_"
       "traitsIwESaIwEEERKSt6vectorINS_4AxisESaISD_EEbSB_");
  bind.op(l.reshape, "Reshape", v + shape);
  bind.op(l.transpose, "Transpose", v + axes);
  bind.op(l.slice, "Slice", v + axes + "RKS3_IiSaIiEESC_SC_");
  bind(l.splice, "_ZN4CNTK6SpliceERKSt6vectorINS_8VariableESaIS1_EERKNS_4AxisE" + kName);
  bind.op(l.gather, "GatherOp", v + "S2_" + axis);
  bind.op(l.one_hot, "OneHotOp", v + "mbRNS_4AxisE");
  bind(l.convolution,
       "_ZN4CNTK8Internal11ConvolutionERKNS_8VariableES3_RKNS_7NDShapeERKSt6vectorIbSaIbEERKS7_"
       "ImSaImEESF_S6_bS6_mm" +
           kName);
  bind.op(l.pooling, "Pooling", v + "NS_11PoolingTypeE" + shape + "S6_RKSt6vectorImSaImEESB_bb");
  bind.op(l.unpooling, "Unpooling", v + "S2_NS_11PoolingTypeE" + shape + "S6_RKSt6vectorIbSaIbEE");
  bind.op(l.pad, "Pad", v + "NS_11PaddingModeERKSt6vectorImSaImEES8_d");
  bind.op(l.cast, "Cast", v + "NS_8DataTypeE");
  bind(l.combine, "_ZN4CNTK7CombineERKSt6vectorINS_8VariableESaIS1_EE" + kName);
}

}  // namespace

std::string find_folder() {
  std::string places;
  for (const auto& folder : engines::engine_folders("HORNGATE_CNTK", "cntk")) {
    if (const std::string found = libs_in(folder.string()); !found.empty()) return found;
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  if (const std::string set = engines::environment("HORNGATE_CNTK"); !set.empty())
    throw std::runtime_error("HORNGATE_CNTK is " + set + ", which contains no " + kCore + "." +
                             kGet);
  throw std::runtime_error("CNTK is not installed (looked for " + std::string(kCore) + " in " +
                           places + ")." + kGet);
}

void load(Library& l) {
#if !defined(__x86_64__)
  throw std::runtime_error("CNTK 2.7 exists for x86-64 only.");
#endif
  l.folder = find_folder();
  check_files(l.folder);
  load_stand_ins();
  Binder bind(open_core(l.folder));
  Binder bind_mkl(dlopen((l.folder + "/" + kMkl).c_str(), RTLD_LAZY | RTLD_LOCAL));
  bind_mkl(l.set_mkl_threads, "MKL_Set_Num_Threads");
  bind_mkl(l.set_product_threads, "MKL_Domain_Set_Num_Threads");
  Binder bind_omp(dlopen((l.folder + "/" + kOpenMp).c_str(), RTLD_LAZY | RTLD_LOCAL));
  bind_omp(l.set_loop_threads, "omp_set_num_threads");
  bind_values(bind, l);
  bind_ops(bind, l);
  for (const Binder* b : {&bind_mkl, &bind_omp})
    if (!b->missing().empty())
      throw std::runtime_error(l.folder + " lacks " + b->missing() + "." + kGet);
  if (!bind.missing().empty())
    throw std::runtime_error(l.folder + " is not CNTK 2.7: " + bind.missing() + " is missing." +
                             kGet);
  const int threads = std::atoi(engines::environment("HORNGATE_CNTK_CONV_THREADS").c_str());
  l.set_mkl_threads(threads > 0 ? threads : 1);
}

}  // namespace horngate::cntk
