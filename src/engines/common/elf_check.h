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
  // The table of sections is the last thing in the file; segments are checked for those who strip it.
  uint64_t needed = head.e_shoff + uint64_t{head.e_shnum} * head.e_shentsize;
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return "is truncated.";
    if (segment.p_type == PT_LOAD) needed = std::max(needed, segment.p_offset + segment.p_filesz);
  }
  if (size < needed)
    return "is truncated: it has " + std::to_string(size) + " bytes and needs " +
           std::to_string(needed) + ".";
  return {};
}

}  // namespace horngate::common
