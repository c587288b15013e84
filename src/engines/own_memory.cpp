// Memory of engines that have their own.
#include "engines/own_memory.h"

namespace horngate {

OwnMemory::OwnMemory(const Engine& engine, size_t bytes)
    : engine_(engine), bytes_(bytes), data_(engine.alloc(bytes)) {}

OwnMemory::OwnMemory(const Engine& engine, const hg_buffer& given)
    : engine_(engine),
      bytes_(given.bytes),
      data_(given.data),
      owner_(given.owner),
      release_(given.release) {}

OwnMemory::~OwnMemory() {
  if (release_)
    release_(owner_);
  else
    engine_.free(data_);
}

void OwnMemory::copy_out(void* to) const { engine_.copy(to, data_, bytes_, HG_COPY_OUT); }
void OwnMemory::copy_in(const void* from) { engine_.copy(data_, from, bytes_, HG_COPY_IN); }

std::shared_ptr<OwnMemory> OwnMemory::copy() const {
  auto made = std::make_shared<OwnMemory>(engine_, bytes_);
  engine_.copy(made->data_, data_, bytes_, HG_COPY_WITHIN);
  return made;
}

std::shared_ptr<OwnMemory> own_memory_of(const Array& array, const Engine& engine) {
  // EngineMemory has no other subclass.
  auto memory = std::static_pointer_cast<OwnMemory>(array.engine_memory());
  return memory && &memory->engine() == &engine ? memory : nullptr;
}

}  // namespace horngate
