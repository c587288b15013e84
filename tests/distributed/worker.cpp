// A rank of the tests of communicators: `comm_worker COMMAND ..`, under mpirun or `horngate launch`.
//   cases SEED COUNT   random operations against a serial computation
//   same SEED          prints a hash of what ordered sums give: equal for all libraries and transports
//   loop SECONDS       operations for as long, then what came of it: for faults
//   elastic SECONDS    the same, but survivors go on
//   mismatch WHAT      the last rank does something else
//   speed BYTES TIMES  seconds of an all_reduce
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>

#include "comm/communicator.h"
#include "comm_oracle.h"

namespace horngate::comm {
namespace {

using Clock = std::chrono::steady_clock;

double wall() {
  timeval t{};
  gettimeofday(&t, nullptr);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

int cases(uint64_t seed, uint64_t count) {
  const auto c = world();
  for (uint64_t i = 0; i < count; ++i) {
    const RandomCase one(seed + i, c->ranks(), i % 10 == 0 ? 3000000 : 5000);
    if (const std::string wrong = one.check(*c); !wrong.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed + i), wrong.c_str());
      return 1;
    }
  }
  std::printf("rank %d of %d: %llu cases\n", c->rank(), c->ranks(),
              static_cast<unsigned long long>(count));
  return 0;
}

int same(uint64_t seed) {
  const auto c = world();
  uint64_t hash = 14695981039346656037u;
  for (const size_t count : {3, 1000, 100000, 4000001}) {
    std::mt19937_64 random(seed + static_cast<uint64_t>(c->rank()));
    std::normal_distribution<float> normal;
    std::vector<float> x(count);
    for (float& v : x) v = normal(random);
    Operation op;
    op.kind = Kind::all_reduce;
    op.in = op.out = x.data();
    op.count = count;
    c->run(op);
    for (const float v : x) {
      uint32_t bits;
      std::memcpy(&bits, &v, sizeof bits);
      hash = (hash ^ bits) * 1099511628211u;
    }
  }
  std::printf("hash %016llx\n", static_cast<unsigned long long>(hash));
  return 0;
}

int loop(double seconds, bool is_elastic) {
  auto c = world();
  std::printf("ready rank %d pid %d\n", c->rank(), static_cast<int>(getpid()));
  std::fflush(stdout);
  const auto began = Clock::now();
  std::mt19937 random(7);
  const auto left = [&] {
    return seconds - std::chrono::duration<double>(Clock::now() - began).count();
  };
  for (uint64_t step = 0;; ++step) {
    const size_t sizes[] = {10, 5000, 300000};
    std::vector<float> x(sizes[random() % 3], 1.0f);
    try {
      // Rank 0 says when it is over.
      std::vector<float> goes_on(1, c->rank() == 0 && left() <= 0 ? 0.0f : 1.0f);
      Operation op = sum_of(goes_on);
      op.reduction = Reduction::min;
      c->wait(c->start(op));
      if (goes_on[0] == 0) break;
      c->run(sum_of(x));
    } catch (const CommError& e) {
      std::printf("at %.3f rank %d: %s\n", wall(), c->rank(), e.what());
      std::fflush(stdout);
      if (!is_elastic) return 3;
      c = c->shrink();
      set_world(c);
      std::printf("at %.3f rank %d of %d goes on\n", wall(), c->rank(), c->ranks());
      std::fflush(stdout);
      random.seed(7);
      continue;
    }
    if (x[x.size() / 2] != static_cast<float>(c->ranks())) {
      std::printf("rank %d: %g is not %d\n", c->rank(), static_cast<double>(x[x.size() / 2]),
                  c->ranks());
      return 1;
    }
  }
  std::printf("rank %d of %d is through\n", c->rank(), c->ranks());
  return 0;
}

int mismatch(const std::string& what) {
  const auto c = world();
  const bool is_odd = c->rank() == c->ranks() - 1;
  std::vector<float> x(2000, 1.0f);
  Operation op = sum_of(x);
  if (is_odd && what == "count") op.count = 1000;
  if (is_odd && what == "dtype") op.dtype = DType::float64, op.count = 1000;
  if (is_odd && what == "kind") op.kind = Kind::broadcast;
  if (is_odd && what == "leaves") return 0;
  if (is_odd && what == "throws") c->give_up("a file is missing.");
  const double began = wall();
  try {
    c->run(op);
    c->run(op);
  } catch (const CommError& e) {
    std::printf("after %.3f s rank %d: %s\n", wall() - began, c->rank(), e.what());
    return 3;
  }
  std::printf("rank %d: no error\n", c->rank());
  return 1;
}

int speed(size_t bytes, int times, const std::string& order) {
  const auto c = world();
  std::vector<float> x(bytes / 4, 1.0f), y(bytes / 4);
  Operation op = sum_of(x);
  op.out = y.data();
  if (order == "library") op.order = Order::library;
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    c->run(Operation());
    const auto began = Clock::now();
    c->run(op);
    all.push_back(std::chrono::duration<double>(Clock::now() - began).count());
  }
  std::sort(all.begin(), all.end());
  if (c->rank() == 0)
    std::printf(
        "{\"bytes\": %zu, \"ranks\": %d, \"order\": \"%s\", \"best\": %g, \"median\": %g}\n", bytes,
        c->ranks(), order.c_str(), all.front(), all[all.size() / 2]);
  return 0;
}

int run(const std::vector<std::string>& words) {
  const auto word = [&](size_t i) { return i < words.size() ? words[i] : std::string("0"); };
  const std::string command = word(0);
  if (command == "cases") return cases(std::stoull(word(1)), std::stoull(word(2)));
  if (command == "same") return same(std::stoull(word(1)));
  if (command == "loop") return loop(std::stod(word(1)), false);
  if (command == "elastic") return loop(std::stod(word(1)), true);
  if (command == "mismatch") return mismatch(word(1));
  if (command == "speed") return speed(std::stoull(word(1)), std::stoi(word(2)), word(3));
  std::fprintf(stderr, "comm_worker: \"%s\" is not a command.\n", command.c_str());
  return 2;
}

}  // namespace
}  // namespace horngate::comm

int main(int argc, char** argv) {
  try {
    return horngate::comm::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
