// Every spelling that must compile; the other files in this folder must not.
#include <horngate/horngate.h>

#include <cmath>
#include <vector>
namespace K = horngate;

K::Tensor legal() {
  const K::Tensor x = K::placeholder({.shape = {K::None, 784}, .name = "x"});
  const K::Variable w = K::variable(K::zeros_array({784, 10}), {.name = "w"});
  const size_t n = 3;
  const K::Tensor y = K::placeholder({.shape = {n, 4}});  // size_t is no trap
  const K::Tensor a = 0.1 * x + 1 - x / 2.0f;
  const K::Tensor b = K::sum(a, {.axis = 1});
  const K::Tensor c = K::sum(a, {.axis = {0, 1}, .keepdims = true});
  const K::Tensor d = K::reshape(y, {-1, 6});
  const K::Tensor e = K::std(d) + std::sqrt(2.0);  // K::std beside std::
  const K::Tensors g = K::gradients(K::mean(K::dot(x, w)), {w});
  const K::Function f = K::function({x}, {b}, {K::update_sub(w, 0.1 * g[0]), {w, w * 2.0}});
  return K::concatenate({c, K::expand_dims(e)}, 0);
}
