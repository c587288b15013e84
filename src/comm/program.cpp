// Compares programs by hashes, and by their texts if those differ.
#include "comm/program.h"

#include <algorithm>
#include <vector>

#include "ir/check.h"

namespace horngate::comm {
namespace {

uint64_t hash_of(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return (hash ^ 0xff) * 1099511628211u;  // so that "ab", "c" is not "a", "bc"
}

/// What every rank has, the same number of each.
std::vector<uint64_t> gather(Communicator& c, const std::vector<uint64_t>& own) {
  std::vector<uint64_t> all(own.size() * static_cast<size_t>(c.ranks()));
  Operation op;
  op.kind = Kind::all_gather;
  op.in = own.data();
  op.out = all.data();
  op.count = own.size();
  op.dtype = DType::uint64;
  c.run(op);
  return all;
}

std::vector<std::string> gather_texts(Communicator& c, const std::string& own) {
  constexpr size_t kMost = 256;
  std::string mine = own.substr(0, kMost), all(kMost * static_cast<size_t>(c.ranks()), '\0');
  mine.resize(kMost);
  Operation op;
  op.kind = Kind::all_gather;
  op.in = mine.data();
  op.out = all.data();
  op.count = kMost;
  op.dtype = DType::uint8;
  c.run(op);
  std::vector<std::string> out;
  for (size_t r = 0; r < all.size(); r += kMost) out.emplace_back(all.substr(r, kMost).c_str());
  return out;
}

}  // namespace

void check_same_program(Communicator& c, const std::string& what,
                        std::span<const std::string> operations) {
  if (c.ranks() == 1) return;
  // Entry i is the hash of the first i operations.
  std::vector<uint64_t> hashes = {14695981039346656037u};
  for (const std::string& one : operations) hashes.push_back(hash_of(one, hashes.back()));
  const std::vector<uint64_t> all = gather(c, {hashes.back(), operations.size()});
  int other = 0;
  size_t shortest = operations.size();
  for (int r = 0; r < c.ranks(); ++r) {
    const size_t at = 2 * static_cast<size_t>(r);
    if (all[at] != all[0] || all[at + 1] != all[1]) other = other ? other : r;
    shortest = std::min<size_t>(shortest, all[at + 1]);
  }
  if (other == 0) return;
  // All ranks are here, so they can find the place together: the first prefix that is not the same everywhere.
  size_t same = 0, differs = shortest + 1;
  while (same + 1 < differs) {
    const size_t middle = (same + differs) / 2;
    const std::vector<uint64_t> there = gather(c, {hashes[middle]});
    const bool is_same =
        std::all_of(there.begin(), there.end(), [&](uint64_t h) { return h == there[0]; });
    (is_same ? same : differs) = middle;
  }
  const std::vector<std::string> texts =
      gather_texts(c, same < operations.size() ? operations[same] : "nothing more");
  for (int r = 1; r < c.ranks(); ++r)
    if (texts[static_cast<size_t>(r)] != texts[0]) {
      other = r;
      break;
    }
  throw CommError(Trouble::mismatch, other,
                  text_of(what, ": ranks run different programs. Operation ", same, " is ",
                          texts[0], " on ", c.name_of(0), ", and ",
                          texts[static_cast<size_t>(other)], " on ", c.name_of(other), "."));
}

}  // namespace horngate::comm
