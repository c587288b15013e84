// Loads a model that Keras saved, and predicts: load_and_predict NET.h5
#include <horngate/keras.h>

#include <cstdio>

namespace K = horngate;
namespace keras = horngate::keras;

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: load_and_predict NET.h5\n"), 2;
  const keras::Model net = keras::load_model(argv[1]);
  std::fputs(net.summary().c_str(), stdout);
  K::Ints dims = net.inputs()[0].shape().dims();
  for (int64_t& d : dims) d = d < 0 ? 1 : d;  // one sample
  std::puts(net.predict(K::ones_array(dims)).str().c_str());
} catch (const K::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
