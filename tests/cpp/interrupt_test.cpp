// Calls that are stopped: soon, wherever they are, and without a trace.
#include "ir/interrupt.h"

#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engines/native/callers.h"
#include "engines/native/threads.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

// One loop of many pieces: those after the stop are left out, on all threads.
TEST(Interrupt, LoopsStopBetweenPieces) {
  for (const int threads : {1, 3}) {
    native::set_thread_count(threads);
    std::atomic<bool> stop{false};
    std::atomic<int64_t> done{0};
    const StopScope scope(&stop);
    const auto loop = [&] {
      native::parallel_for(10'000, 10, [&](int64_t begin, int64_t end) {
        done += end - begin;
        if (native::thread_index() == 0) stop = true;
        while (!stop) std::this_thread::yield();  // or the others are done before the first begins
      });
    };
    {
      const native::CallerScope caller(true);
      EXPECT_THROW(loop(), Interrupted);
      EXPECT_GT(done, 0);
      EXPECT_LT(done, 10'000);
    }
    // A commit is not stopped.
    done = 0;
    {
      const native::CallerScope caller(false);
      loop();
    }
    EXPECT_EQ(done, 10'000);
  }
  native::set_thread_count(0);
}

TEST(Interrupt, PlansThatAreBeingMadeStop) {
  const Tensor x = placeholder({.shape = {None, 4}});
  const Variable v = variable(Array(0.0f));
  Tensor y = x;
  for (int i = 0; i < 3000; ++i) y = i % 3 ? tanh(y) * 0.5 + x : y * x;
  const Function f = function({x}, {y}, {update_add(v, constant(Array(1.0f)))});
  std::atomic<bool> stop{true};
  {
    const StopScope scope(&stop);
    EXPECT_THROW((void)f({ones_array({2, 4})}), Interrupted);
    EXPECT_EQ(f.impl()->plans_made(), 0u);
    EXPECT_THROW((void)function({x}, {y * 2.0}), Interrupted);
  }
  EXPECT_EQ(f({ones_array({2, 4})}).size(), 1u);
  EXPECT_EQ(get_value(v).item<float>(), 1.0f);
}

std::atomic<bool> asked{false};

// A printed line comes when all steps are done: who asks then is still in time.
TEST(Interrupt, WhoAsksAfterTheLastStepIsHeard) {
  const Variable v = variable(Array(0.0f));
  const Tensor line = print_tensor(v * 2.0);
  const Function f = function({}, {line}, {update_add(v, constant(Array(1.0f)))});
  set_print_handler([](const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    asked = true;
  });
  set_interrupt_check([] { return asked.load() ? 1 : 0; });
  EXPECT_THROW((void)f(), Interrupted);
  EXPECT_EQ(get_value(v).item<float>(), 0.0f);
  asked = false;
  set_print_handler([](const std::string&) {});
  (void)f();
  EXPECT_EQ(get_value(v).item<float>(), 1.0f);
  set_print_handler({});
  set_interrupt_check(nullptr);
}

}  // namespace
}  // namespace horngate
