// Weights of CuDNN's layers as those of LSTM and GRU.
#include "horngate/keras/layers_recurrent.h"
#include "keras/network.h"

namespace horngate::keras {
namespace {

/// CuDNN keeps the kernel of each gate as (units, inputs), in a matrix that says (inputs, units).
template <class T>
void unpack_kernels(const T* from, T* to, int64_t rows, int64_t units, int64_t gates) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t g = 0; g < gates; ++g)
      for (int64_t j = 0; j < units; ++j) {
        // Entry (j, i) of a (units, rows) matrix that lies in the (rows, units) block of this gate.
        const int64_t place = j * rows + i;
        to[(i * gates + g) * units + j] =
            from[((place / units) * gates + g) * units + place % units];
      }
}

Array unpacked(const Array& packed, int64_t units, int64_t gates) {
  const Array from = packed.contiguous();
  Array to(from.dtype(), from.dims());
  const int64_t rows = from.dims()[0];
  switch (size_of(from.dtype())) {
    case 2:
      unpack_kernels(static_cast<const uint16_t*>(from.raw()), static_cast<uint16_t*>(to.raw()),
                     rows, units, gates);
      break;
    case 4:
      unpack_kernels(static_cast<const uint32_t*>(from.raw()), static_cast<uint32_t*>(to.raw()),
                     rows, units, gates);
      break;
    default:
      unpack_kernels(static_cast<const uint64_t*>(from.raw()), static_cast<uint64_t*>(to.raw()),
                     rows, units, gates);
  }
  return to;
}

/// CuDNN has two biases for each gate, which an LSTM adds.
Array summed_halves(const Array& biases) {
  const std::vector<double> both = biases.to_vector<double>();
  const size_t n = both.size() / 2;
  const bool is_double = biases.dtype() == DType::float64;
  Array sum(DType::float64, {static_cast<int64_t>(n)});
  for (size_t i = 0; i < n; ++i)
    sum.data<double>()[i] =
        is_double
            ? both[i] + both[n + i]
            : static_cast<double>(static_cast<float>(both[i]) + static_cast<float>(both[n + i]));
  return sum.cast(biases.dtype());
}

}  // namespace

Arrays convert_rnn_weights(const std::string& class_name, const Arrays& weights) {
  const bool lstm = class_name == "LSTM" || class_name == "CuDNNLSTM";
  if (!lstm && class_name != "GRU" && class_name != "CuDNNGRU") return weights;
  if (weights.size() != 3) return weights;  // without biases: never CuDNN's
  const int64_t gates = lstm ? 4 : 3;
  const Array &kernel = weights[0], &recurrent = weights[1], &bias = weights[2];
  const int64_t units = recurrent.ndim() == 2 ? recurrent.dims()[0] : 0;
  const bool fits = units > 0 && kernel.ndim() == 2 && recurrent.dims()[1] == units * gates &&
                    kernel.dims()[1] == units * gates;
  if (fits &&
      (bias.dims() == Ints{units * gates} || (!lstm && bias.dims() == Ints{2, units * gates})))
    return weights;
  if (!fits || bias.dims() != Ints{2 * units * gates})
    throw ValueError("convert_rnn_weights: the weights must be those of a " + class_name +
                     "; got shapes " + kernel.shape().str() + ", " + recurrent.shape().str() +
                     " and " + bias.shape().str() + ".");
  return {unpacked(kernel, units, gates), unpacked(recurrent, units, gates),
          lstm ? summed_halves(bias) : bias.contiguous().reshape({2, units * gates})};
}

// Files have those weights of a model inside of another first that are trained.
Arrays convert_rnn_weights(const Layer& layer, const Arrays& weights) {
  const Body& body = layer.body();
  const bool model = dynamic_cast<const Network*>(&body) != nullptr;
  const std::string name = body.class_name();
  if (!model && name != "Bidirectional" && name != "TimeDistributed")
    return convert_rnn_weights(name, weights);
  Arrays results;
  auto from = weights.begin();
  const auto convert = [&](const std::shared_ptr<Body>& part, size_t count) {
    if (static_cast<size_t>(weights.end() - from) < count)
      throw ValueError("convert_rnn_weights: layer " + layer.name() + " has more weights than " +
                       std::to_string(weights.size()) + ".");
    const auto to = from + static_cast<ptrdiff_t>(count);
    for (Array& a : convert_rnn_weights(Layer(part), Arrays(from, to)))
      results.push_back(std::move(a));
    from = to;
  };
  for (const auto& part : body.parts())
    convert(part, model ? part->trainable_weights().size() : part->weights().size());
  if (model)
    for (const auto& part : body.parts()) convert(part, part->non_trainable_weights().size());
  results.insert(results.end(), from, weights.end());
  return results;
}

}  // namespace horngate::keras
