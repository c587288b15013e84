// HDF5: dense storage of links. h5py turns to it when a group has more than eight members and one of their
// names is not ASCII.
#pragma once

#include <functional>

#include "files/hdf5_header.h"

namespace horngate::files::hdf5 {

/// Calls back with each link's message. `heap` is the address of the fractal heap that holds them, `index` that
/// of the version 2 B-tree that says where in the heap.
void read_dense_links(const Source& source, uint64_t heap, uint64_t index, Parts& parts,
                      const std::function<void(const Message&)>& on_link);

}  // namespace horngate::files::hdf5
