/* What an engine implements: a C interface of about ten functions. A graph goes in, arrays go in and out.
 *
 * An engine is a shared object named libhorngate_engine_<name>.so that exports hg_engine_main. It is found in the
 * folder horngate/engines beside the library or in a folder listed in HORNGATE_ENGINE_PATH. This header is all it
 * needs: it builds with no other part of Horngate present. See docs/writing_an_engine.md for a walk-through.
 *
 * Rules: no C++ exception, longjmp or library type may cross this boundary. Inputs stay valid until run returns and
 * are read-only. After an error the outputs are undefined and nothing else has changed.
 *
 * How it grows: each struct has its size at its start (the engine's has its version before it), new members are added
 * at its end, and lists of structs are lists of pointers. A reader does not look beyond the size it finds (HG_HAS) and
 * takes missing members as 0. So engines and hosts with the same HG_ABI work together, whichever is older. */
#ifndef HORNGATE_ENGINE_H
#define HORNGATE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; host and engine must agree. */
#define HG_ABI 2u

/* Whether the struct behind a pointer has a member. */
#define HG_HAS(pointer, member)                                         \
  ((size_t)((const char*)&(pointer)->member - (const char*)(pointer)) + \
       sizeof((pointer)->member) <=                                     \
   (pointer)->size)

/* Element types: the numbers of horngate::DType. */
enum {
  HG_FLOAT16 = 0,
  HG_BFLOAT16 = 1,
  HG_FLOAT32 = 2,
  HG_FLOAT64 = 3,
  HG_INT8 = 4,
  HG_INT16 = 5,
  HG_INT32 = 6,
  HG_INT64 = 7,
  HG_UINT8 = 8,
  HG_UINT16 = 9,
  HG_UINT32 = 10,
  HG_UINT64 = 11,
  HG_BOOL = 12
};

/* Codes of hg_status: which exception the message becomes. */
enum {
  HG_OK = 0,
  HG_VALUE_ERROR = 1,
  HG_TYPE_ERROR = 2,
  HG_INDEX_ERROR = 3,
  HG_NOT_IMPLEMENTED = 4,
  HG_RUNTIME_ERROR = 5,
  HG_INTERRUPTED = 6
};

/* Filled by the engine when a function returns non-zero; the memory belongs to the caller. */
typedef struct {
  uint32_t size;
  int32_t code;
  char text[1024];
} hg_status;

enum {
  /* The buffer's data points to an hg_sparse. The engine fills that of an output with its own memory, which it frees
   * in the buffer's release. Only for engines with HG_CAP_SPARSE. */
  HG_TYPE_SPARSE = 1,
  /* For a graph's input: a variable that this function does not change. Whatever depends only on such inputs may be
   * kept between runs while their stamps stay the same. */
  HG_TYPE_STABLE = 2
};

typedef struct {
  uint32_t size, flags;
  int32_t dtype, rank;
  const int64_t* dims; /* -1 only for engines with HG_CAP_FREE_DIMS */
} hg_type;

/* A sparse matrix in CSR form. */
typedef struct {
  uint32_t size;
  int64_t nnz;
  const int64_t* indptr;  /* rows + 1 */
  const int64_t* indices; /* columns, in any order; entries of one place add up */
  const void* values;
} hg_sparse;

/* Memory of a value: contiguous, row-major. Inputs are only aligned to their element size, since some are a user's own
 * arrays; outputs are aligned to 64 bytes, whether the host allocates them or the engine supplies them. Engines with
 * memory of their own get what their alloc returned. A value without elements may have NULL. */
typedef struct {
  uint32_t size;
  const hg_type* type;
  void* data;
  size_t bytes;
  void* owner; /* belongs to whoever sets release */
  void (*release)(void* owner);
  uint64_t stamp; /* of an input: equal stamps mean equal contents; 0 means nothing */
} hg_buffer;

enum { HG_ATTR_I64 = 0, HG_ATTR_F64 = 1, HG_ATTR_TEXT = 2, HG_ATTR_TYPE = 3, HG_ATTR_BUFFER = 4 };

/* An entry of an attribute `shape` that is supplied by the last operand, a 1-D HG_INT64 value with the whole shape.
 * Only for engines with HG_CAP_FREE_DIMS; all others see numbers. */
#define HG_FROM_OPERAND INT64_MIN

/* An attribute: n items of int64_t or double, n characters, one int32_t dtype, or one hg_buffer in host memory. */
typedef struct {
  uint32_t size;
  int32_t kind;
  const char* key;
  uint32_t n;
  const void* data;
} hg_attr;

typedef struct hg_graph hg_graph;

/* One application of a primitive; docs/primitives.md lists names, operands and attributes. */
typedef struct {
  uint32_t size;
  const char* prim;
  const char* name;     /* the user's name for it, or NULL */
  const char* function; /* the K function that made it, for messages, or NULL */
  uint32_t n_in, n_out, n_attr, n_body;
  const uint32_t *in, *out; /* numbers of values */
  const hg_attr* const* attr;
  const hg_graph* const* body; /* scan: 1, cond: 2 */
} hg_node;

/* Nodes in topological order. No node makes the values that are inputs. */
struct hg_graph {
  uint32_t size, n_value, n_node, n_in, n_out;
  const hg_type* const* value;
  const hg_node* const* node;
  const uint32_t *in, *out;
  /* Pairs (number of an output, number of an input) that the caller may pass in the same memory; only given to
   * engines with HG_CAP_IN_PLACE. The result must be the same as with separate memory, and a run must not fail once it
   * has written there, since they are variables. */
  uint32_t n_in_place;
  const uint32_t* in_place;
};

/* What an engine is opened with. */
typedef struct {
  uint32_t size;
  int32_t threads; /* HORNGATE_NUM_THREADS; 0: the engine's choice */
  /* From "engine_options" in keras.json and HORNGATE_ENGINE_OPTIONS. An engine must refuse those it does not know. */
  uint32_t n_option;
  const char *const *option, *const *value;
} hg_open;

/* What a run may ask of the host. Every run gets one. */
typedef struct {
  uint32_t size;
  int32_t threads;           /* as in hg_open */
  int (*stopped)(void* ctx); /* non-zero: give up with HG_INTERRUPTED; may be NULL */
  void (*log)(void* ctx, int level, const char* text); /* a line of print_tensor (level 0) */
  void* ctx;
} hg_run;

enum {
  /* Takes graphs with dims of -1: sizes that differ from run to run. The buffers of a run have only numbers.
   * `supports` is asked about nodes with such dims; if it refuses one, the graph comes with numbers. */
  HG_CAP_FREE_DIMS = 1,
  HG_CAP_SCAN = 2,
  HG_CAP_COND = 4,
  HG_CAP_OWN_MEMORY = 8,      /* its memory is not the host's: see alloc */
  HG_CAP_CONCURRENT_RUN = 16, /* one executable may run on several threads at once */
  HG_CAP_NO_EMPTY = 32,       /* arrays without elements never reach it */
  HG_CAP_NO_F64 = 64,         /* nor does float64 */
  HG_CAP_IN_PLACE = 128,      /* honours hg_graph.in_place */
  HG_CAP_SPARSE = 256,        /* takes sparse values; without it they never reach the engine */
  HG_CAP_GIVES_MEMORY = 512,  /* supplies the memory of its outputs: it gets them with data NULL */
  HG_CAP_EVERYTHING = 1024    /* runs every node as it is: `supports` is not asked */
};

/* Directions of a copy, as the engine sees them. */
enum { HG_COPY_IN = 0, HG_COPY_OUT = 1, HG_COPY_WITHIN = 2 };

/* The engine. Functions return 0 or fill the status. Members marked optional may be NULL. */
typedef struct {
  uint32_t abi, size; /* abi first: hosts of any version find it there */
  const char *name, *version;
  uint64_t caps;
  /* Once per process; again only after it failed. */
  int (*open)(const hg_open* how, void** engine, hg_status* status);
  /* 1 if the engine can run that node as it is. Without side effects. */
  int (*supports)(void* engine, const hg_graph* graph, uint32_t node);
  /* The graph is only valid until it returns. Any thread. */
  int (*compile)(void* engine, const hg_graph* graph, void** executable, hg_status* status);
  /* in and out in the graph's order. out.data NULL: the engine supplies the memory and sets release. */
  int (*run)(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run,
             hg_status* status);
  void (*free_executable)(void* executable);
  /* For HG_CAP_OWN_MEMORY, else NULL. The host never reads or writes what alloc returns; it copies feeds in, keeps
   * variables and results there, and copies a result out when somebody reads it. Each function must behave as if
   * everything asked for earlier were done: a run may return early, a copy out may not. Any thread. */
  int (*alloc)(void* engine, size_t bytes, void** data, hg_status* status);
  void (*free)(void* engine, void* data);
  int (*copy)(void* engine, void* to, const void* from, size_t bytes, int direction,
              hg_status* status);
  /* Optional: the file or folder of the library that the engine drives. open may set it, even if it fails: then it
   * says what was found but cannot be used. */
  const char* where;
  /* Optional: about how many bytes an executable holds until it is freed, including what its runs made. The host
   * counts them against HORNGATE_PLAN_BYTES; otherwise it estimates. */
  size_t (*executable_bytes)(void* executable);
} hg_engine_api;

/* The only exported symbol. Returns NULL if the engine cannot serve a host of that interface version. */
#if defined(_WIN32)
#define HG_ENGINE_EXPORT __declspec(dllexport)
#else
#define HG_ENGINE_EXPORT __attribute__((visibility("default")))
#endif
typedef const hg_engine_api* (*hg_engine_main_fn)(uint32_t host_abi);
HG_ENGINE_EXPORT const hg_engine_api* hg_engine_main(uint32_t host_abi);

/* The library's own engine, for an engine that delegates to it and so links with the library. */
HG_ENGINE_EXPORT const hg_engine_api* hg_native_engine(uint32_t host_abi);

#ifdef __cplusplus
}
#endif
#endif
