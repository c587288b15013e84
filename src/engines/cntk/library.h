// The CNTK library at run time: where its files are, loading them, and its functions by mangled name.
#pragma once

#include "cntk/types.h"

namespace horngate::cntk {

/// Operations of one operand, in the order of kUnaryNames.
enum class Un {
  kAbs,
  kNegate,
  kExp,
  kLog,
  kSqrt,
  kSin,
  kCos,
  kTanh,
  kAtanh,
  kSinh,
  kSigmoid,
  kFloor,
  kCeil,
  kToBatch,
  kUnpackBatch,
  kCount
};
/// Operations of two operands, in the order of kBinaryNames.
enum class Bin {
  kPlus,
  kMinus,
  kTimes,
  kDivide,
  kMax,
  kMin,
  kPow,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kCount
};

struct Library {
  using Name = const std::wstring&;
  using Axes = const std::vector<Axis>&;
  using Sizes = const std::vector<size_t>&;
  using Ints = const std::vector<int>&;
  using Bools = const std::vector<bool>&;
  using V = const Variable&;

  std::string folder;

  void (*make_axis)(void*, int);
  void (*make_view)(void*, DataType, const NDShape&, void*, size_t, const Device&, bool);
  void (*drop_view)(void*);
  void (*make_value)(void*, const ViewPtr&);
  void (*drop_value)(void*);
  std::wstring (*make_uid)(VariableKind);
  void (*make_variable)(void*, const NDShape&, VariableKind, DataType, const ViewPtr&, bool, Axes,
                        bool, Name, Name);
  void (*variable_of)(void*, const FunctionPtr&);
  FunctionPtr (*unary[static_cast<int>(Un::kCount)])(V, Name);
  FunctionPtr (*binary[static_cast<int>(Bin::kCount)])(V, V, Name);
  FunctionPtr (*select)(V, V, V, Name);
  FunctionPtr (*times)(V, V, size_t, int, Name);
  FunctionPtr (*transpose_times)(V, V, size_t, Name);
  FunctionPtr (*argmax)(V, const Axis&, Name);
  FunctionPtr (*argmin)(V, const Axis&, Name);
  FunctionPtr (*reduce)(V, Name, Axes, bool, Name);
  FunctionPtr (*reshape)(V, const NDShape&, Name);
  FunctionPtr (*transpose)(V, Axes, Name);
  FunctionPtr (*slice)(V, Axes, Ints, Ints, Ints, Name);
  FunctionPtr (*splice)(const std::vector<Variable>&, const Axis&, Name);
  FunctionPtr (*gather)(V, V, const Axis&, Name);
  FunctionPtr (*one_hot)(V, size_t, bool, Axis&, Name);
  FunctionPtr (*convolution)(V, V, const NDShape&, Bools, Sizes, Sizes, const NDShape&, bool,
                             const NDShape&, size_t, size_t, Name);
  FunctionPtr (*pooling)(V, int, const NDShape&, const NDShape&, Sizes, Sizes, bool, bool, Name);
  FunctionPtr (*unpooling)(V, V, int, const NDShape&, const NDShape&, Bools, Name);
  FunctionPtr (*pad)(V, int, Sizes, Sizes, double, Name);
  FunctionPtr (*cast)(V, DataType, Name);
  FunctionPtr (*combine)(const std::vector<Variable>&, Name);
  std::vector<Variable> (*outputs)(const Function*);
  const NDShape& (*shape)(const Variable*);
  void (*evaluate)(Function*, const ValueMap&, ValueMap&, const Device&);
  void (*record_update)(Variable*);      // a parameter's memory has changed
  void (*set_loop_threads)(int);         // OpenMP: of the calling thread
  void (*set_mkl_threads)(int);          // of the process; never after the first convolution
  int (*set_product_threads)(int, int);  // of one domain of MKL
};

/// The folder with CNTK's libraries. Throws like load.
std::string find_folder();
/// Finds, loads and binds the library. Throws std::runtime_error with a sentence for the user.
void load(Library& library);

}  // namespace horngate::cntk
