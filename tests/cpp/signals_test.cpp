// Signal handlers may run at any moment of a call: they must not find themselves on somebody else's stack.
#include <gtest/gtest.h>
#include <horngate/horngate.h>
#include <signal.h>
#include <sys/time.h>

namespace horngate {
namespace {

volatile sig_atomic_t handled = 0;

void handler(int) {
  volatile char stack[8192];  // what a real handler uses of its stack
  for (size_t i = 0; i < sizeof stack; ++i) stack[i] = 0x5a;
  handled = handled + 1;
}

TEST(Signals, HandlersDuringProductsDoNoHarm) {
  const Tensor x = placeholder({.shape = {None, None}});
  const Function f = function({x}, {sum(dot(x, x))});
  const Array a = Array::full(DType::float32, {512, 512}, 1.0);
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &before);
  const itimerval often{{0, 300}, {0, 300}}, never{{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 150; ++i) ASSERT_EQ(f({a})[0].item<float>(), 512.0f * 512.0f * 512.0f);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(handled, 0);
}

}  // namespace
}  // namespace horngate
