// TensorFlow's C interface: our own declarations of the functions that the engine calls, bound at run
// time. Building this needs nothing of TensorFlow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "horngate/engine.h"

namespace horngate::tf {

/// TensorFlow's numbers for element types.
enum Type : int {
  kNoType = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kHalf = 19,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23
};

struct CGraphT;
struct CStatus;
struct CSession;
struct COptions;
struct CTensor;
struct COperation;
struct CDescription;
struct CFunction;
struct CBuffer {
  const void* data;
  size_t length;
  void (*deallocator)(void* data, size_t length);
};
struct COutput {
  COperation* op;
  int index;
};

// FUNCTION(result, name after TF_, arguments)
#define HORNGATE_TF_FUNCTIONS(FUNCTION)                                                       \
  FUNCTION(const char*, Version, ())                                                          \
  FUNCTION(CStatus*, NewStatus, ())                                                           \
  FUNCTION(void, DeleteStatus, (CStatus*))                                                    \
  FUNCTION(int, GetCode, (const CStatus*))                                                    \
  FUNCTION(const char*, Message, (const CStatus*))                                            \
  FUNCTION(CGraphT*, NewGraph, ())                                                            \
  FUNCTION(void, DeleteGraph, (CGraphT*))                                                     \
  FUNCTION(CDescription*, NewOperation, (CGraphT*, const char* type, const char* name))       \
  FUNCTION(COperation*, FinishOperation, (CDescription*, CStatus*))                           \
  FUNCTION(void, AddInput, (CDescription*, COutput))                                          \
  FUNCTION(void, AddControlInput, (CDescription*, COperation*))                               \
  FUNCTION(void, AddInputList, (CDescription*, const COutput*, int n))                        \
  FUNCTION(void, SetAttrType, (CDescription*, const char*, Type))                             \
  FUNCTION(void, SetAttrTypeList, (CDescription*, const char*, const Type*, int n))           \
  FUNCTION(void, SetAttrShape, (CDescription*, const char*, const int64_t*, int rank))        \
  FUNCTION(void, SetAttrString, (CDescription*, const char*, const void*, size_t))            \
  FUNCTION(void, SetAttrInt, (CDescription*, const char*, int64_t))                           \
  FUNCTION(void, SetAttrIntList, (CDescription*, const char*, const int64_t*, int n))         \
  FUNCTION(void, SetAttrBool, (CDescription*, const char*, unsigned char))                    \
  FUNCTION(void, SetAttrFloat, (CDescription*, const char*, float))                           \
  FUNCTION(void, SetAttrFuncName, (CDescription*, const char*, const char* name, size_t))     \
  FUNCTION(void, SetAttrTensor, (CDescription*, const char*, CTensor*, CStatus*))             \
  FUNCTION(CFunction*, GraphToFunction,                                                       \
           (const CGraphT*, const char* name, unsigned char hash, int n_ops,                  \
            const COperation* const*, int n_in, const COutput*, int n_out, const COutput*,    \
            const char* const* out_names, const void* options, const char* text, CStatus*))   \
  FUNCTION(void, DeleteFunction, (CFunction*))                                                \
  FUNCTION(void, FunctionSetAttrValueProto,                                                   \
           (CFunction*, const char*, const void*, size_t, CStatus*))                          \
  FUNCTION(void, GraphCopyFunction, (CGraphT*, const CFunction*, const CFunction*, CStatus*)) \
  FUNCTION(COptions*, NewSessionOptions, ())                                                  \
  FUNCTION(void, DeleteSessionOptions, (COptions*))                                           \
  FUNCTION(void, SetConfig, (COptions*, const void* proto, size_t, CStatus*))                 \
  FUNCTION(CSession*, NewSession, (CGraphT*, const COptions*, CStatus*))                      \
  FUNCTION(void, CloseSession, (CSession*, CStatus*))                                         \
  FUNCTION(void, DeleteSession, (CSession*, CStatus*))                                        \
  FUNCTION(void, SessionRun,                                                                  \
           (CSession*, const CBuffer* options, const COutput*, CTensor* const*, int n_in,     \
            const COutput*, CTensor**, int n_out, const COperation* const*, int n_targets,    \
            CBuffer* metadata, CStatus*))                                                     \
  FUNCTION(CTensor*, NewTensor,                                                               \
           (Type, const int64_t*, int rank, void* data, size_t bytes,                         \
            void (*deallocator)(void*, size_t, void*), void* argument))                       \
  FUNCTION(CTensor*, AllocateTensor, (Type, const int64_t*, int rank, size_t bytes))          \
  FUNCTION(CTensor*, TensorMaybeMove, (CTensor*))                                             \
  FUNCTION(void, DeleteTensor, (CTensor*))                                                    \
  FUNCTION(void*, TensorData, (const CTensor*))                                               \
  FUNCTION(size_t, TensorByteSize, (const CTensor*))                                          \
  FUNCTION(CBuffer*, GetRegisteredKernelsForOp, (const char*, CStatus*))                      \
  FUNCTION(void, DeleteBuffer, (CBuffer*))

struct Api {
#define FUNCTION(result, name, arguments) result(*name) arguments;
  HORNGATE_TF_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/// The bound functions; load() must have succeeded.
const Api& api();

/// Finds, loads and binds TensorFlow, once per process; throws Error if it is missing or unusable.
void load();
/// Version of the loaded library, "2.21.0"; empty before.
const char* library_version();
/// The file that was found; NULL if there was none.
const char* library_path();

/// A failure, with its status code.
struct Error : std::runtime_error {
  Error(int code, const std::string& text) : std::runtime_error(text), code(code) {}
  int code;
};

/// A TensorFlow status that frees itself.
class Status {
 public:
  Status() : status_(api().NewStatus()) {}
  ~Status() { api().DeleteStatus(status_); }
  Status(const Status&) = delete;
  operator CStatus*() { return status_; }
  int code() const { return api().GetCode(status_); }
  bool ok() const { return code() == 0; }
  const char* message() const { return api().Message(status_); }
  /// Throws what went wrong while `doing`.
  void check(const char* doing) const;

 private:
  CStatus* status_;
};

/// TensorFlow's number of an element type, and bytes of one element.
Type type_of(int32_t dtype);
size_t size_of(Type type);

}  // namespace horngate::tf
