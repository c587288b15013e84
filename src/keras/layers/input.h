// Where data enters: Input and InputLayer. And Lambda, which only its maker knows.
#pragma once

#include "horngate/keras/layers_core.h"
#include "keras/layers/body_of.h"

namespace horngate::keras {

struct InputArguments {
  Shape batch_input_shape = {};
  DType dtype = DType::float32;
  bool sparse = false;
};

class InputBody final : public Body {
 public:
  explicit InputBody(InputArguments a) : a_(std::move(a)) {}
  std::string class_name() const override { return "InputLayer"; }
  Tensors call(Call& c) override { return {c.x()}; }
  Json full_config() const override;
  const InputArguments& arguments() const { return a_; }

 private:
  InputArguments a_;
};

/// The layer with its one call, whose result is a new placeholder.
Value make_input(InputArguments arguments, const std::string& name);

class LambdaBody final : public Body {
 public:
  explicit LambdaBody(LambdaCall function) : function_(std::move(function)) {}
  std::string class_name() const override { return "Lambda"; }
  Tensors call(Call& c) override { return function_(c.inputs); }
  Tensors compute_mask(const Tensors&, const Tensors&) override { return {}; }
  Json config() const override;

 private:
  LambdaCall function_;
};

}  // namespace horngate::keras
