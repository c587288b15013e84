/* What a communicator implements: a C interface of about ten functions that moves bytes between the processes of one
 * program.
 *
 * A communicator is a shared object named libhorngate_comm_<name>.so that exports hg_comm_main. It is found in the
 * folder horngate/comm beside the library or in a folder listed in HORNGATE_COMM_PATH. This header and engine.h, for
 * its element types and HG_HAS, are all it needs. See docs/writing_a_communicator.md for a walk-through.
 *
 * Words: the processes of a program are its ranks, 0 to n - 1. A group is what a communicator opened: all ranks, or
 * those that are left after a fault. Each rank starts the same operations in the same order.
 *
 * Rules: no C++ exception, longjmp or library type may cross this boundary. The host calls the functions of a group
 * from one thread at a time, except abort, which may come from any thread before close. Memory is the host's.
 *
 * How it grows: as engine.h does. Each struct but hg_comm_part begins with its size, new members are added at its end,
 * and a reader does not look beyond the size it finds (HG_HAS). */
#ifndef HORNGATE_COMM_H
#define HORNGATE_COMM_H

#include "horngate/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; host and communicator must agree. */
#define HG_COMM_ABI 1u

/* Codes of hg_comm_status, besides those of hg_status. */
enum {
  HG_COMM_TIMEOUT = 32, /* the deadline is over; rank: who is waited for, if known */
  HG_COMM_LOST = 33,    /* a rank ended or cannot be reached; rank: which one */
  HG_COMM_ABORTED = 34  /* abort was called */
};

/* Filled when a function returns non-zero; the memory belongs to the caller. */
typedef struct {
  uint32_t size;
  int32_t code;
  int32_t
      rank; /* of the group, whom the fault is about; -1: unknown. The host adds its name to the text */
  char text[1024];
} hg_comm_status;

/* How long a function may take, and how it is stopped. */
typedef struct {
  uint32_t size;
  int64_t nanoseconds;       /* from now; negative: no limit */
  int (*stopped)(void* ctx); /* non-zero: give up with HG_INTERRUPTED; may be NULL */
  void* ctx;
} hg_comm_patience;

/* What a communicator is opened with. */
typedef struct {
  uint32_t size;
  /* From HORNGATE_COMM_OPTIONS. A communicator must refuse those it does not know. */
  uint32_t n_option;
  const char *const *option, *const *value;
} hg_comm_open;

/* What a rank knows of its group. */
typedef struct {
  uint32_t size;
  int32_t rank, ranks;
  uint64_t caps;
} hg_comm_info;

/* Kinds of operations. A communicator must have HG_COMM_EXCHANGE; the others it has by its caps, and the host composes
 * those that it lacks of exchanges. */
enum {
  HG_COMM_EXCHANGE = 0,
  HG_COMM_ALL_REDUCE = 1,
  HG_COMM_REDUCE_SCATTER = 2,
  HG_COMM_ALL_GATHER = 3,
  HG_COMM_ALL_TO_ALL = 4,
  HG_COMM_BROADCAST = 5,
  HG_COMM_BARRIER = 6
};

/* Whether it has an operation of its own: 1 << kind. For those that reduce, in the communicator's own order of
 * additions, of the element types and reductions that its `reduces` takes. */
#define HG_COMM_CAP(kind) ((uint64_t)1 << (kind))
enum {
  HG_COMM_CAP_SHRINK = 1 << 16 /* goes on without the ranks that are lost: see shrink */
};

enum { HG_COMM_SUM = 0, HG_COMM_PROD = 1, HG_COMM_MIN = 2, HG_COMM_MAX = 3 };

/* A piece of memory. Does not grow. */
typedef struct {
  void* data; /* only read where it is sent; may be NULL if bytes is 0 */
  uint64_t bytes;
} hg_comm_part;

/* One operation. It may be gone once start returns, but for the memory that it names. */
typedef struct {
  uint32_t size;
  int32_t kind;
  /* HG_COMM_EXCHANGE: send[r] goes to rank r and comes to recv of the sender there, with the same number of bytes; one
   * entry for each rank. The own parts are the host's affair: they are skipped. */
  const hg_comm_part *send, *recv;
  /* All other kinds: elements at `in` and `out`, which are the same or do not overlap. With n ranks,
   *   all_reduce      in: count, out: count
   *   reduce_scatter  in: n * count, out: count
   *   all_gather      in: count, out: n * count
   *   all_to_all      in and out: n * count
   *   broadcast       in: count, on root; out: count */
  const void* in;
  void* out;
  uint64_t count;
  int32_t dtype, reduction, root;
  /* release, unless NULL, is called once when the memory is not needed any more: before wait or test say that the
   * operation is over, or, after a fault, when nothing can come late and write into it; perhaps never. */
  void* owner;
  void (*release)(void* owner);
  /* Equal on all ranks if they do the same. What is sent under one key must not arrive under another one: then ranks
   * that do different things wait for each other, and the host finds out who does what. */
  uint64_t key;
} hg_comm_op;

/* The communicator. Functions return 0 or fill the status. Members marked optional may be NULL. */
typedef struct {
  uint32_t abi, size; /* abi first: hosts of any version find it there */
  const char *name, *version;
  /* Opens the group of all ranks. Once per process, unless the communicator allows more. */
  int (*open)(const hg_comm_open* how, const hg_comm_patience* patience, void** group,
              hg_comm_status* status);
  void (*info)(void* group, hg_comm_info* info);
  /* Optional: whether the group's own all_reduce and reduce_scatter take these. */
  int (*reduces)(void* group, int32_t dtype, int32_t reduction);
  /* Begins an operation and returns at once; several may be under way. */
  int (*start)(void* group, const hg_comm_op* op, void** request, hg_comm_status* status);
  /* Waits for the end of an operation. Then, and after an error, the request is gone. */
  int (*wait)(void* group, void* request, const hg_comm_patience* patience, hg_comm_status* status);
  /* Sets *done if it is over; then, and after an error, the request is gone. */
  int (*test)(void* group, void* request, int* done, hg_comm_status* status);
  /* Makes what this rank has under way, and whatever it starts later, fail with HG_COMM_ABORTED. The other ranks do
   * not hear of it: the host tells them. */
  void (*abort)(void* group);
  /* With HG_COMM_CAP_SHRINK: a new group of those ranks, in this order; this rank is one of them. All of them call it
   * with the same list, which the host has agreed on with them. The old group is only good for close, and for another
   * shrink if one more rank was lost before they met: what is left of the first must not come to the second. */
  int (*shrink)(void* group, uint32_t n, const int32_t* ranks, void** survivors,
                hg_comm_status* status);
  /* healthy: all ranks close now, and no operation is under way. Otherwise it must not wait for anybody. */
  void (*close)(void* group, int healthy);
  /* Optional: the library that it drives, and its version, once open found it. */
  const char *where, *library;
} hg_comm_api;

/* The only exported symbol. Returns NULL if the communicator cannot serve a host of that interface version. */
typedef const hg_comm_api* (*hg_comm_main_fn)(uint32_t host_abi);
HG_ENGINE_EXPORT const hg_comm_api* hg_comm_main(uint32_t host_abi);

#ifdef __cplusplus
}
#endif
#endif
