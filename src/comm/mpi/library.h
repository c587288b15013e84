// An MPI library, found and bound while the program runs. No header of MPI is needed: of its many functions about
// fifteen are used, and what differs between libraries is handles and a few constants.
#pragma once

#include <cstdint>
#include <string>

#include "../common/status.h"

namespace horngate::comm::mpi {

/// A handle of any kind. Open MPI and the standard ABI have pointers, MPICH has ints, which registers carry in the same
/// place; what is written through a pointer to one fills its lower half.
using Handle = uintptr_t;

struct Library {
  std::string path, version;
  bool is_open_mpi = false;

  // Constants.
  Handle comm_world = 0, byte = 0, errors_return = 0;
  void* in_place = reinterpret_cast<void*>(1);
  int serialized = 2, multiple = 3;  // levels of threads
  int tag_ub = 0;                    // the attribute that says how large tags may be
  /// Of an element type of engine.h and of a reduction of comm.h; 0: it has none.
  Handle types[13] = {};
  Handle operations[4] = {};

  // Functions.
  int (*Init_thread)(int*, char***, int, int*) = nullptr;
  int (*Initialized)(int*) = nullptr;
  int (*Finalized)(int*) = nullptr;
  int (*Finalize)() = nullptr;
  int (*Query_thread)(int*) = nullptr;
  int (*Get_library_version)(char*, int*) = nullptr;
  int (*Error_string)(int, char*, int*) = nullptr;
  int (*Comm_dup)(Handle, Handle*) = nullptr;
  int (*Comm_free)(Handle*) = nullptr;
  int (*Comm_rank)(Handle, int*) = nullptr;
  int (*Comm_size)(Handle, int*) = nullptr;
  int (*Comm_set_errhandler)(Handle, Handle) = nullptr;
  int (*Comm_get_attr)(Handle, int, void*, int*) = nullptr;
  int (*Get_count)(const void*, Handle, int*) = nullptr;
  int (*Isend)(const void*, int, Handle, int, int, Handle, Handle*) = nullptr;
  int (*Irecv)(void*, int, Handle, int, int, Handle, Handle*) = nullptr;
  int (*Iallreduce)(const void*, void*, int, Handle, Handle, Handle, Handle*) = nullptr;
  int (*Test)(Handle*, int*, void*) = nullptr;
  int (*Cancel)(Handle*) = nullptr;

  std::string error_text(int code) const;
};

/// Loads the library that this process was launched with. `wanted`: its file or folder, if the user names one. Null and
/// an error text on failure.
const Library* load_library(const std::string& wanted, std::string& why);

}  // namespace horngate::comm::mpi
