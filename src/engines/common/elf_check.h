// Whether a shared object is whole. The loader maps a truncated file without a word and the process dies later by
// SIGBUS, so engines ask before they load a library.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

namespace horngate::common {

inline std::string too_short(uint64_t size, uint64_t needed) {
  return "is truncated: it has " + std::to_string(size) + " bytes and needs " +
         std::to_string(needed) + ".";
}

/// Empty, or what is wrong with the file, to stand after its path.
inline std::string elf_problem(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "is missing.";
  const auto size = static_cast<uint64_t>(file.tellg());
  Elf64_Ehdr head{};
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
    return "is not a shared object.";
  uint64_t needed = head.e_shoff + uint64_t{head.e_shnum} * head.e_shentsize;
  if (size < needed) return too_short(size, needed);
  file.seekg(static_cast<std::streamoff>(head.e_shoff));
  for (int i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!file.read(reinterpret_cast<char*>(&section), sizeof section)) return "is truncated.";
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL)
      needed = std::max(needed, section.sh_offset + section.sh_size);
  }
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return "is truncated.";
    if (segment.p_type == PT_LOAD) needed = std::max(needed, segment.p_offset + segment.p_filesz);
  }
  return size < needed ? too_short(size, needed) : std::string();
}

}  // namespace horngate::common
