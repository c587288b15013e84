// Whether a shared object is complete and for this machine. The loader silently maps a truncated file, so that the
// process later dies of SIGBUS, and it follows tables without checking where they point; hence the check before
// loading.
#pragma once

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace horngate::engines {

struct LibraryFile {
  bool exists = false;
  bool is_whole = false;
  uint64_t size = 0, needed = 0;  // bytes; needed is 0 if the tables cannot be read
  std::string fault;  // what is wrong with it, if anything; follows its path in messages
};

/// Reads the tables of a shared object.
class ElfReader {
 public:
  explicit ElfReader(const std::string& path) { look(path); }
  const LibraryFile& result() const { return f_; }

 private:
#if defined(__aarch64__)
  static constexpr int kMachine = EM_AARCH64;
#else
  static constexpr int kMachine = EM_X86_64;
#endif
  static constexpr uint64_t kMostEntries = 1 << 20;  // per table

  void look(const std::string& path) {
    struct stat s{};
    if (stat(path.c_str(), &s) != 0) return fail(std::string("cannot be read: ") + strerror(errno));
    f_.exists = true;
    // Reading a pipe might never end, and a device is not a file.
    if (!S_ISREG(s.st_mode))
      return fail(S_ISDIR(s.st_mode) ? "is a folder" : "is not a regular file");
    file_.open(path, std::ios::binary);
    if (!file_) return fail("cannot be read");
    f_.size = static_cast<uint64_t>(s.st_size);
    if (!look_at_head()) return;
    if (look_at_sections() && look_at_segments() && look_at_dynamic()) f_.is_whole = true;
  }

  bool look_at_head() {
    if (!read(0, head_) || std::memcmp(head_.e_ident, ELFMAG, SELFMAG) != 0 ||
        head_.e_ident[EI_CLASS] != ELFCLASS64)
      return wrong("is not a 64-bit shared library");
    if (head_.e_ident[EI_DATA] != ELFDATA2LSB || head_.e_machine != kMachine)
      return wrong("is a library for another kind of machine");
    if (head_.e_type != ET_DYN)
      return wrong("is an object file or a program, not a shared library");
    return true;
  }

  /// Loading does not need the sections, but their table is at the end, where a truncated file is cut off.
  bool look_at_sections() {
    if (head_.e_shoff == 0 || head_.e_shnum == 0) return true;
    if (head_.e_shentsize != sizeof(Elf64_Shdr)) return wrong("has damaged tables");
    uint64_t needed = 0;
    if (!ends_at(head_.e_shoff, uint64_t{head_.e_shnum} * sizeof(Elf64_Shdr), needed)) return false;
    for (uint64_t i = 0; i < head_.e_shnum; ++i) {
      Elf64_Shdr section{};
      if (!read(head_.e_shoff + i * sizeof section, section)) return wrong("is cut off");
      if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
      uint64_t end = 0;
      if (__builtin_add_overflow(section.sh_offset, section.sh_size, &end))
        return wrong("has damaged tables");
      f_.needed = std::max(f_.needed, end);
    }
    return f_.size >= f_.needed || cut_off();
  }

  bool look_at_segments() {
    if (head_.e_phnum == 0 || head_.e_phentsize != sizeof(Elf64_Phdr))
      return wrong("has damaged tables");
    uint64_t needed = 0;
    if (!ends_at(head_.e_phoff, uint64_t{head_.e_phnum} * sizeof(Elf64_Phdr), needed)) return false;
    for (uint64_t i = 0; i < head_.e_phnum; ++i) {
      Elf64_Phdr segment{};
      if (!read(head_.e_phoff + i * sizeof segment, segment)) return wrong("is cut off");
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
      if (segment.p_type != PT_LOAD) continue;
      uint64_t end = 0;
      const bool sane =
          segment.p_filesz <= segment.p_memsz && segment.p_memsz < uint64_t{1} << 46 &&
          segment.p_vaddr < uint64_t{1} << 46 && segment.p_align >= 1 &&
          (segment.p_align & (segment.p_align - 1)) == 0 &&
          (segment.p_vaddr - segment.p_offset) % segment.p_align == 0 &&
          (loads_.empty() || segment.p_vaddr >= loads_.back().p_vaddr + loads_.back().p_memsz) &&
          !__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end);
      if (!sane) return wrong("has damaged tables");
      f_.needed = std::max(f_.needed, end);
      loads_.push_back(segment);
    }
    if (f_.size < f_.needed) return cut_off();
    return !loads_.empty() || wrong("has damaged tables");
  }

  /// Checks that the tables the loader follows lie within what it maps.
  bool look_at_dynamic() {
    if (dynamic_.p_type != PT_DYNAMIC || !is_mapped(dynamic_.p_vaddr, dynamic_.p_memsz) ||
        dynamic_.p_filesz > f_.size || dynamic_.p_offset > f_.size - dynamic_.p_filesz)
      return wrong("has damaged tables");
    const uint64_t n = std::min(dynamic_.p_filesz / sizeof(Elf64_Dyn), kMostEntries);
    uint64_t strings = 0, string_bytes = 0, symbols = 0, hash = 0, rela = 0, rela_bytes = 0;
    uint64_t jump = 0, jump_bytes = 0, init = 0, init_bytes = 0;
    bool ends = false;
    for (uint64_t i = 0; i < n && !ends; ++i) {
      Elf64_Dyn d{};
      if (!read(dynamic_.p_offset + i * sizeof d, d)) return wrong("is cut off");
      switch (d.d_tag) {
        case DT_NULL: ends = true; break;
        case DT_STRTAB: strings = d.d_un.d_ptr; break;
        case DT_STRSZ: string_bytes = d.d_un.d_val; break;
        case DT_SYMTAB: symbols = d.d_un.d_ptr; break;
        case DT_HASH:
        case DT_GNU_HASH: hash = d.d_un.d_ptr; break;
        case DT_RELA: rela = d.d_un.d_ptr; break;
        case DT_RELASZ: rela_bytes = d.d_un.d_val; break;
        case DT_JMPREL: jump = d.d_un.d_ptr; break;
        case DT_PLTRELSZ: jump_bytes = d.d_un.d_val; break;
        case DT_INIT_ARRAY: init = d.d_un.d_ptr; break;
        case DT_INIT_ARRAYSZ: init_bytes = d.d_un.d_val; break;
        default: break;
      }
    }
    const bool sane = ends && strings && symbols && hash && is_mapped(strings, string_bytes) &&
                      is_mapped(symbols, sizeof(Elf64_Sym)) && is_mapped(hash, 16) &&
                      is_mapped(rela, rela_bytes) && is_mapped(jump, jump_bytes) &&
                      is_mapped(init, init_bytes) && is_relocated_inside(rela, rela_bytes) &&
                      is_relocated_inside(jump, jump_bytes);
    return sane || wrong("has damaged tables");
  }

  /// Whether what the loader writes while relocating lies within what it maps.
  bool is_relocated_inside(uint64_t at, uint64_t bytes) {
    if (bytes == 0) return true;
    for (const Elf64_Phdr& s : loads_) {
      if (at < s.p_vaddr || at - s.p_vaddr > s.p_filesz || bytes > s.p_filesz - (at - s.p_vaddr))
        continue;
      std::vector<Elf64_Rela> all(std::min(bytes / sizeof(Elf64_Rela), kMostEntries));
      file_.clear();
      file_.seekg(static_cast<std::streamoff>(s.p_offset + (at - s.p_vaddr)));
      if (!file_.read(reinterpret_cast<char*>(all.data()),
                      static_cast<std::streamsize>(all.size() * sizeof(Elf64_Rela))))
        return false;
      return std::all_of(all.begin(), all.end(), [&](const Elf64_Rela& r) {
        return ELF64_R_TYPE(r.r_info) == 0 || is_mapped(r.r_offset, 1);
      });
    }
    return false;
  }

  bool is_mapped(uint64_t at, uint64_t bytes) const {
    return bytes == 0 || std::any_of(loads_.begin(), loads_.end(), [&](const Elf64_Phdr& s) {
             return at >= s.p_vaddr && at - s.p_vaddr <= s.p_memsz &&
                    bytes <= s.p_memsz - (at - s.p_vaddr);
           });
  }

  template <class T>
  bool read(uint64_t at, T& to) {
    if (at > f_.size || sizeof to > f_.size - at) return false;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file_.read(reinterpret_cast<char*>(&to), sizeof to));
  }

  /// Notes that so many bytes are needed at a place.
  bool ends_at(uint64_t at, uint64_t bytes, uint64_t& end) {
    if (__builtin_add_overflow(at, bytes, &end)) return wrong("has damaged tables");
    f_.needed = std::max(f_.needed, end);
    return f_.size >= f_.needed || cut_off();
  }
  bool cut_off() {
    return wrong("is cut off: it has " + std::to_string(f_.size) + " of at least " +
                 std::to_string(f_.needed) + " bytes");
  }
  void fail(std::string why) { f_.fault = std::move(why); }
  bool wrong(std::string why) {
    fail(std::move(why));
    return false;
  }

  LibraryFile f_;
  std::ifstream file_;
  Elf64_Ehdr head_{};
  Elf64_Phdr dynamic_{};
  std::vector<Elf64_Phdr> loads_;
};

inline LibraryFile measure_library(const std::string& path) { return ElfReader(path).result(); }

}  // namespace horngate::engines
