// A process forks while its other threads are in calls: the child works.
#include <gtest/gtest.h>
#include <horngate/horngate.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engines/native/threads.h"
#include "ir/fork.h"
#include "plan/function_impl.h"
#include "sanitizers.h"

namespace horngate {
namespace {

class Forks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::kThreadSanitizer)
      GTEST_SKIP() << "the thread sanitizer cannot follow the children of a process with threads";
  }
};

/// What `f` gives in a child; 2: it did not end in time, 3: it ended in another way.
int in_child(const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 1 : 0);
  int status = 0;
  for (int i = 0; i < 60'000; ++i) {
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
    usleep(1000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return 2;
}

Array filled(Ints dims, double value) {
  return Array::full(DType::float32, std::move(dims), value);
}

TEST_F(Forks, ChildrenOfABusyProcessWork) {
  if (testing::kAddressSanitizer)
    GTEST_SKIP() << "GCC 12's address sanitizer leaves locks of its allocator held in the child";
  const Variable a = variable(filled({1000}, 0)), b = variable(filled({1000}, 0));
  const Variable w = variable(filled({64, 64}, 1));
  const Tensor x = placeholder({.shape = {None, 64}});
  const Tensor one = constant(Array(1.0f));
  const Function train = function({}, {}, {update_add(a, one), update_add(b, one)});
  const Function differ = function({}, {max(abs(a - b))});
  const Function predict = function({x}, {dot(x, w)});
  const auto works = [&](int64_t rows) {
    return predict({filled({rows, 64}, 1)})[0].to_vector<float>() ==
               std::vector<float>(static_cast<size_t>(rows) * 64, 64.0f) &&
           differ()[0].item<float>() == 0;
  };
  native::set_thread_count(2);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    while (!stop) (void)train();
  });
  threads.emplace_back([&] {
    for (int64_t i = 0; !stop; ++i) ASSERT_TRUE(works(1 + i % 100));
  });
  threads.emplace_back([&] {
    while (!stop) {
      const Variable v = variable(filled({300, 100}, 1), {.name = "v"});
      ASSERT_EQ(eval(sum(v * 2.0)).item<float>(), 60'000.0f);
      set_value(v, filled({300, 100}, 2));
    }
  });
  for (int i = 0; i < 25; ++i) {
    const int got = in_child([&] {
      bool well = works(64) && works(1) && works(200);
      (void)train();
      well &= works(3);
      batch_set_value({{a, filled({1000}, 5)}, {b, filled({1000}, 5)}});
      const Tensor loss = sum(square(x));
      well &= function({x}, gradients(loss, {x}))({filled({2, 64}, 3)})[0].data<float>()[0] == 6;
      clear_session();
      std::thread other([&] { well &= works(7); });
      other.join();
      return well;
    });
    EXPECT_EQ(got, 1) << "child " << i;
    if (got == 2) break;
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  native::set_thread_count(0);
}

// The other thread is held in the middle of a call that updates: it has the variable's lock, and its plan is being used.
TEST_F(Forks, WhatACallHoldsIsFreeInTheChild) {
  const Variable v = variable(filled({3}, 1));
  const Function f = function({}, {}, {update_add(v, print_tensor(v * 1.0, "v"))});
  std::atomic<bool> is_inside{false}, may_go{false};
  set_print_handler([&](const std::string&) {
    is_inside = true;
    while (!may_go) usleep(100);
  });
  std::thread other([&] { (void)f(); });
  while (!is_inside) usleep(100);
  const int got = in_child([&] {
    may_go = true;
    set_print_handler([](const std::string&) {});
    set_value(v, filled({3}, 4));
    (void)f();
    return get_value(v).to_vector<float>() == std::vector<float>{8, 8, 8};
  });
  may_go = true;
  other.join();
  set_print_handler({});
  EXPECT_EQ(got, 1);
  EXPECT_EQ(get_value(v).to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

TEST_F(Forks, WaitsForWhoHoldsItOff) {
  std::atomic<bool> is_held{false}, may_go{false};
  std::atomic<int> half_done{0};
  std::thread other([&] {
    const ForkHold hold, again;
    half_done = 1;
    is_held = true;
    while (!may_go) usleep(100);
    half_done = 2;
  });
  while (!is_held) usleep(100);
  std::thread later([&] {
    usleep(50'000);
    may_go = true;
  });
  EXPECT_EQ(in_child([&] { return half_done == 2; }), 1);
  other.join();
  later.join();
}

TEST_F(Forks, LongLocksAreForgottenShortOnesNot) {
  ForkMutex mutex;
  ForkSharedMutex shared;
  mutex.lock();
  shared.lock_shared();
  const int got = in_child([&] {
    std::atomic<int> order{0};
    mutex.lock();
    shared.lock();
    std::thread other([&] {
      mutex.lock();
      order = order == 1 ? 2 : 3;
      mutex.unlock();
    });
    usleep(20'000);
    order = 1;
    mutex.unlock();
    other.join();
    shared.unlock();
    return order == 2;
  });
  EXPECT_EQ(got, 1);
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  shared.unlock_shared();
  EXPECT_TRUE(shared.try_lock());
  shared.unlock();
}

/// Made slowly; counts how often that was begun.
struct Slow {
  explicit Slow(std::atomic<int>& begun) {
    ++begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  int64_t number = 7;
};

TEST_F(Forks, ChildrenMakeTheStaticsThatOtherThreadsWereMaking) {
  static std::atomic<int> begun{0};
  const auto number = [] {
    static const Slow slow(begun);
    return slow.number;
  };
  std::thread maker([&] { EXPECT_EQ(number(), 7); });
  while (begun == 0) std::this_thread::yield();
  EXPECT_EQ(in_child([&] {
              alarm(20);
              std::thread other([&] { (void)number(); });
              const bool well = number() == 7 && begun == 2;
              other.join();
              return well && begun == 2;
            }),
            1);
  maker.join();
  EXPECT_EQ(number(), 7);
  EXPECT_EQ(begun, 1);
}

TEST(Statics, AreMadeOnce) {
  static std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      static const Slow slow(begun);
      sum += slow.number;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 8 * 7);
  EXPECT_EQ(begun, 1);
}

TEST(Statics, AreTriedAgainAfterAnException) {
  int tries = 0;
  const auto number = [&] {
    static const int made = [&] {
      if (++tries < 3) throw std::runtime_error("not yet");
      return tries;
    }();
    return made;
  };
  EXPECT_THROW(number(), std::runtime_error);
  EXPECT_THROW(number(), std::runtime_error);
  EXPECT_EQ(number(), 3);
  EXPECT_EQ(number(), 3);
}

TEST(Statics, MayNeedOthers) {
  const auto outer = [] {
    static const int made = [] {
      static const int inner = [] { return std::atomic<int>(20).load(); }();
      return inner + 1;
    }();
    return made;
  };
  EXPECT_EQ(outer(), 21);
}

}  // namespace
}  // namespace horngate
