// The program of README.md, against the installed headers and library.
#include <horngate/horngate.h>

#include <iostream>

namespace K = horngate;

int main() {
  auto x = K::placeholder({.shape = {K::None, 2}, .name = "x"});
  auto y = K::placeholder({.shape = {K::None, 1}, .name = "y"});
  auto w = K::variable(K::zeros_array({2, 1}), {.name = "w"});
  auto b = K::variable(K::zeros_array({1}), {.name = "b"});

  auto loss = K::mean(K::square(K::dot(x, w) + b - y));
  auto grads = K::gradients(loss, {w, b});
  auto train = K::function({x, y}, {loss},
                           {K::update_sub(w, 0.1 * grads[0]), K::update_sub(b, 0.1 * grads[1])});

  const K::Array xs = K::eval(K::random_normal({200, 2}, {.seed = 1}));
  const K::Array truth = K::Array::of({2.f, -3.f}, {2, 1});
  const K::Array ys = K::eval(K::dot(K::constant(xs), K::constant(truth)) + 0.5);
  for (int step = 0; step < 100; ++step) train(xs, ys);
  std::cout << "w " << K::eval(K::round(100 * w) / 100) << " b " << K::eval(K::round(100 * b) / 100)
            << '\n';
}
