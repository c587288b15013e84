// For plug-ins: whether a shared object is whole. The loader maps a truncated file without a word and the process
// dies later by SIGBUS, so engines ask before they load a library.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

namespace horngate::engines {

struct LibraryFile {
  bool exists = false;
  bool is_library = false;  // 64-bit ELF
  bool is_whole = false;
  uint64_t size = 0, needed = 0;  // bytes; needed is 0 when its tables cannot be read
};

inline LibraryFile measure_library(const std::string& path) {
  LibraryFile f;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return f;
  f.exists = true;
  f.size = static_cast<uint64_t>(file.tellg());
  Elf64_Ehdr head{};
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
    return f;
  f.is_library = true;
  uint64_t needed = head.e_shoff + uint64_t{head.e_shnum} * head.e_shentsize;
  if (f.size < needed) {
    f.needed = needed;
    return f;
  }
  file.seekg(static_cast<std::streamoff>(head.e_shoff));
  for (int i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!file.read(reinterpret_cast<char*>(&section), sizeof section)) return f;
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL)
      needed = std::max(needed, section.sh_offset + section.sh_size);
  }
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return f;
    if (segment.p_type == PT_LOAD) needed = std::max(needed, segment.p_offset + segment.p_filesz);
  }
  f.needed = needed;
  f.is_whole = f.size >= needed;
  return f;
}

}  // namespace horngate::engines
