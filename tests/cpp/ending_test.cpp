// Functions that are called while a thread or the program ends: by destructors of thread_locals and static objects.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include "horngate/horngate.h"
#include "sanitizers.h"

namespace horngate {
namespace {

constexpr int kInputs = 1100;  // more pointers than a call keeps on its stack

/// tanh(x) + 1 of many inputs, and of a variable in a product.
struct Work {
  Work() {
    Tensors inputs, terms;
    for (int i = 0; i < kInputs; ++i) inputs.push_back(placeholder({.shape = Shape{4, 4}}));
    for (const Tensor& x : inputs) terms.push_back(tanh(x));
    const Variable w = variable(Array::full(DType::float32, {4, 4}, 1));
    Tensor total = dot(terms[0], w) + 1;
    for (size_t i = 1; i < terms.size(); ++i) total = total + terms[i];
    f = function(inputs, {total});
  }
  bool is_right() const {
    const Arrays zeros(kInputs, Array::zeros(DType::float32, {4, 4}));
    const bool calls = f(zeros)[0].data<float>()[0] == 1;
    const Tensor inside = constant(Array::of({1.f, 1.f, 1.f}));
    return calls &&
           eval(sum(map_fn([](const Tensor& t) { return t * 2; }, inside))).item<float>() == 6;
  }
  Function f;
};

std::optional<Work> work;  // of the program that ends

void be_right_or_end() {
  if (!work->is_right()) _exit(1);
}

/// Is destroyed after ours, because it was made before.
struct AtEnd {
  ~AtEnd() {
    if (work) be_right_or_end();
  }
  void touch() {}
};

TEST(Ending, FunctionsRunAtTheEndOfTheProgram) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoForks;
  const auto program = [] {
    work.emplace();
    std::atexit(be_right_or_end);
    be_right_or_end();
    std::exit(0);
  };
  EXPECT_EXIT(program(), ::testing::ExitedWithCode(0), "");
}

TEST(Ending, FunctionsRunAtTheEndOfAThread) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoForks;
  const auto program = [] {
    work.emplace();
    for (int i = 0; i < 3; ++i)
      std::thread([] {
        thread_local AtEnd end;
        end.touch();
        be_right_or_end();
      }).join();
    be_right_or_end();
    std::exit(0);
  };
  EXPECT_EXIT(program(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace horngate
