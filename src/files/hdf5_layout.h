// HDF5: where everything goes in a file that is written, and its bytes.
#pragma once

#include "files/atomic_file.h"
#include "files/hdf5_writer.h"

namespace horngate::files::hdf5 {

void write_file(const GroupWriter& root, AtomicFile& file);

}  // namespace horngate::files::hdf5
