// The program of docs/models.md, against the installed headers and library.
#include <horngate/keras.h>

namespace K = horngate;
namespace keras = horngate::keras;

int main() {
  const K::Array x = K::eval(K::random_uniform({200, 4}, {.seed = 1}));
  const K::Array y = K::eval(K::sum(K::constant(x), {.axis = 1, .keepdims = true}));

  keras::Sequential net(
      {keras::Dense(16, {.activation = "relu", .input_shape = {4}}), keras::Dense(1)});
  net.compile({.optimizer = keras::Adam({.learning_rate = 0.01}), .loss = "mse"});
  const keras::History history =
      net.fit(x, y, {.epochs = 20, .verbose = 0, .validation_split = 0.1});

  net.save("sum.h5");  // keras.models.load_model("sum.h5") reads it
  const keras::Model again = keras::load_model("sum.h5");
  return again.predict(x).dims()[0] == 200 && history["loss"].back() < history["loss"][0] ? 0 : 1;
}
