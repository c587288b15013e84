// HDF5: where everything goes in a file that is written, and its bytes.
#pragma once

#include "keras/files/atomic_file.h"
#include "keras/files/hdf5_writer.h"

namespace horngate::keras::files::hdf5 {

void write_file(const GroupWriter& root, AtomicFile& file);

}  // namespace horngate::keras::files::hdf5
