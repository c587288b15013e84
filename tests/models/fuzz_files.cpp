// Hunts crashes, other exceptions than ours, memory and time in the readers of files.
//   fuzz_files <corpus folder> <seconds> [seed]
// Built by Clang with -fsanitize=fuzzer it is a target of libFuzzer instead (tools/fuzz_files.sh).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "mutate.h"
#include "read_all.h"

namespace {

using namespace horngate::files;

void run_one(Bytes bytes) {
  try {
    read_all("input", bytes);
  } catch (const horngate::Error&) {
    // What is wrong with the file was said.
  }
}

}  // namespace

#ifdef HORNGATE_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  run_one(std::as_bytes(std::span(data, size)));
  return 0;
}

#else

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: fuzz_files <corpus folder> <seconds> [seed]\n");
    return 2;
  }
  std::vector<std::vector<std::byte>> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Bytes bytes = as_bytes(text);
    corpus.emplace_back(bytes.begin(), bytes.end());
  }
  if (corpus.empty()) return 2;
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::random_device()();
  std::mt19937_64 random(seed);
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  uint64_t runs = 0;
  double slowest = 0;
  const double seconds = std::atof(argv[2]);
  while (passed() < seconds) {
    const std::vector<std::byte> input = horngate::testing::mutated(corpus, random);
    const double before = passed();
    try {
      run_one(input);
    } catch (const std::exception& e) {
      std::ofstream("found.bin", std::ios::binary)
          .write(reinterpret_cast<const char*>(input.data()),
                 static_cast<std::streamsize>(input.size()));
      std::printf("seed %llu, run %llu: another exception: %s (input in found.bin)\n",
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(runs),
                  e.what());
      return 1;
    }
    slowest = std::max(slowest, passed() - before);
    ++runs;
  }
  std::printf("{\"seed\": %llu, \"runs\": %llu, \"slowest_ms\": %.2f}\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(runs),
              slowest * 1e3);
}

#endif
