// The loop over time, its states and masks; RNN and stacks of cells.
#include "keras/layers/recurrent.h"

#include "horngate/ops/variables.h"
#include "keras/no_initializers.h"
#include "keras/node.h"

namespace horngate::keras {

// ---- Cell

Tensors Cell::call(Call& c) {
  begin();
  if (c.inputs.size() != 1 + state_size().size())
    throw ValueError(where() + "must have " + std::to_string(1 + state_size().size()) +
                     " inputs, x and the states; got " + std::to_string(c.inputs.size()) + ".");
  const RnnStep s = step(c.x(), {c.inputs.begin() + 1, c.inputs.end()}, {});
  Tensors results{s.output};
  results.insert(results.end(), s.new_states.begin(), s.new_states.end());
  return results;
}

void Cell::check_inputs(const Shapes& shapes) const {
  if (shapes.empty() || shapes[0].ndim() < 2)
    throw ValueError(where() + "the first input must have at least 2 dimensions; got " +
                     (shapes.empty() ? "none" : "shape " + shapes[0].str()) + ".");
}

std::shared_ptr<Cell> Cell::copy() const {
  const CustomLayers none;
  const Json description = class_config(class_name().c_str(), full_config());
  try {
    return cell_from(description, {none}, name());
  } catch (const ValueError& e) {
    throw ValueError(where() + "a " + class_name() +
                     " cannot be copied, which Bidirectional needs; override Cell::copy. " +
                     e.what());
  }
}

std::shared_ptr<Cell> cell_of(const Layer& layer, const char* function) {
  auto cell = std::dynamic_pointer_cast<Cell>(layer.shared());
  if (!cell)
    throw TypeError(std::string(function) + ": cell must be a keras::Cell; got " +
                    (layer.defined() ? "a " + layer.class_name() : "nothing") + ".");
  return cell;
}

std::shared_ptr<Cell> cell_from(const Json& description, const LoadContext& context,
                                const std::string& where) {
  auto cell = std::dynamic_pointer_cast<Cell>(layer_from(description, context));
  if (!cell)
    throw ValueError(where + ": cell must be a recurrent cell; got " +
                     description.at("class_name", where).dump() + ".");
  return cell;
}

void refuse_field(const Json& config, const char* name) {
  if (const Json* found = config.find(name); found && *found == Json(true))
    throw ValueError(read_common(config).name + ": " + name + " must be false; got true.");
}

void check_units(const char* class_name, const char* what, int64_t got) {
  check_positive(class_name, what, got);
  constexpr int64_t kMost = int64_t{1} << 40;
  if (got > kMost)
    throw ValueError(std::string(class_name) + ": " + what + " must be at most " +
                     std::to_string(kMost) + "; got " + std::to_string(got) + ".");
}

Tensor gate(const Tensor& x, int64_t size, int64_t i) {
  return getitem(x, {Ellipsis, Slice{.start = size * i, .stop = size * (i + 1)}});
}

Initializer SeedsAnew::anew(const Initializer& initializer) {
  if (!initializer || initializer.is_nameless()) return initializer;
  try {
    return Initializer::from(initializer.config(), "");
  } catch (const ValueError&) {
    return initializer;  // the user's own
  }
}

Initializer for_gates(const Initializer& initializer) {
  if (initializer.is_nameless()) return initializer;
  const Json config = initializer.config();
  const Json* name = config.find("class_name");
  if (!name || *name != Json("Identity")) return initializer;
  return [initializer](const Shape& shape, DType dtype) {
    const int64_t rows = shape.dim(0), columns = shape.dim(1);
    const std::vector<double> one =
        initializer(Shape(Ints{rows, rows}), DType::float64).to_vector<double>();
    Array all(DType::float64, {rows, columns});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        all.data<double>()[i * columns + j] = one[static_cast<size_t>(i * rows + j % rows)];
    return all.cast(dtype);
  };
}

Initializer with_forget_bias(const Initializer& initializer, int64_t size) {
  return [=](const Shape&, DType dtype) {
    Tensors parts;
    for (const Array& a : {initializer(Shape(Ints{size}), dtype), Array::full(dtype, {size}, 1.0),
                           initializer(Shape(Ints{2 * size}), dtype)})
      parts.push_back(constant(a));
    return eval(concatenate(parts));
  };
}

// ---- The loop

RecurrentBody::RecurrentBody(std::shared_ptr<Cell> cell, const RecurrentFlags& flags, Owner owner)
    : cell_(std::move(cell)), flags_(flags), owner_(owner) {}

void RecurrentBody::set_num_constants(std::optional<int64_t> n) {
  constexpr int64_t kMost = 1 << 20;
  if (n && (*n < 0 || *n > kMost))
    throw ValueError("RNN: num_constants must be in [0, " + std::to_string(kMost) + "]; got " +
                     std::to_string(*n) + ".");
  num_constants_ = n;
}

InputSpec RecurrentBody::spec_of(const Shape& x) const {
  InputSpec spec{.ndim = ndim()};
  if (flags_.stateful && x[0].known()) spec.axes[0] = x.dim(0);
  for (size_t i = 2; i < x.ndim(); ++i)
    if (x[i].known()) spec.axes[static_cast<int64_t>(i)] = x.dim(i);
  return spec;
}

void RecurrentBody::check_inputs(const Shapes& shapes) const {
  if (shapes.empty()) throw ValueError(where() + "must have at least 1 input; got 0.");
  if (shapes[0].ndim() != ndim())
    throw ValueError(where() + "input 0 must have " + std::to_string(ndim()) +
                     " dimensions; got shape " + shapes[0].str() + ".");
  Body::check_inputs({shapes[0]});
  const size_t constants = static_cast<size_t>(num_constants_.value_or(0)), states = state_count();
  if (constants > 0 && !cell_->takes_constants())
    throw ValueError(where() + "a " + cell_->class_name() + " takes no constants; got " +
                     std::to_string(constants) + ".");
  if (shapes.size() == 1 + constants) return;
  if (shapes.size() != 1 + states + constants)
    throw ValueError(where() + "must have 1 input, or " + std::to_string(1 + states) +
                     " with its states, and then " + std::to_string(constants) +
                     " constants; got " + std::to_string(shapes.size()) + " inputs.");
  const Ints sizes = cell_->state_size();
  for (size_t i = 0; i < states; ++i) {
    const Shape& s = shapes[1 + i];
    const int64_t axis =
        state_axis() < 0 ? state_axis() + static_cast<int64_t>(s.ndim()) : state_axis();
    const bool there = axis >= 0 && axis < static_cast<int64_t>(s.ndim());
    if (!there ||
        (s[static_cast<size_t>(axis)].known() && s.dim(static_cast<size_t>(axis)) != sizes[i]))
      throw ValueError(where() + "initial state " + std::to_string(i) + " must have " +
                       std::to_string(sizes[i]) + " along axis " + std::to_string(state_axis()) +
                       "; got shape " + s.str() + ".");
  }
}

void RecurrentBody::build(const Shapes& in) {
  Ints step{in[0].dims().begin(), in[0].dims().end()};
  step.erase(step.begin() + 1);
  Shapes for_cell{Shape(step)};
  for_cell.insert(for_cell.end(), in.end() - num_constants_.value_or(0), in.end());
  if (owner_ == Owner::layer) cell_->set_options({.name = name(), .dtype = dtype()});
  cell_->set_scope(scope());
  cell_->ensure_built(for_cell);
  input_spec = {spec_of(in[0])};
  states_.clear();
  if (!flags_.stateful) return;
  for (const Shape& shape : state_shapes(in[0])) {
    if (!shape.is_static())
      throw ValueError(where() +
                       "a stateful layer must know the number of samples; give batch_input_shape "
                       "or Input's batch_shape. Got shape " +
                       in[0].str() + ".");
    constexpr int64_t kMost = 1 << 23;  // files do not hold states, so nothing else bounds them
    if (NoInitializers::is_active() && shape.size() > kMost)
      throw ValueError(where() + "has states of shape " + shape.str() +
                       ", more than a file may ask for.");
    states_.push_back(variable(Array::zeros(dtype(), shape.dims()),
                               {.dtype = dtype(), .name = scope() + "/state"}));
  }
}

Shapes RecurrentBody::state_shapes(const Shape& x) const {
  Shapes shapes;
  for (const int64_t size : cell_->state_size()) shapes.push_back(Shape(Ints{x.dim(0), size}));
  return shapes;
}

Tensors RecurrentBody::zero_states(const Tensor& x) const {
  const Tensor zero = expand_dims(sum(zeros_like(x), {.axis = {1, 2}}));
  Tensors states;
  for (const int64_t size : cell_->state_size()) states.push_back(tile(zero, {1, size}));
  return states;
}

Tensors RecurrentBody::call(Call& c) {
  const auto constants = static_cast<ptrdiff_t>(num_constants_.value_or(0));
  const Tensor& x = c.x();
  Tensors states(c.inputs.begin() + 1, c.inputs.end() - constants);
  if (states.empty())
    states = flags_.stateful ? Tensors(states_.begin(), states_.end()) : zero_states(x);
  if (flags_.unroll && !x.shape()[1].known())
    throw ValueError(where() + "unroll needs a known number of time steps; got shape " +
                     x.shape().str() + ".");
  cell_->begin();
  const size_t n = states.size();
  const auto step = [&](const Tensor& now, const Tensors& all) {
    const auto middle = all.begin() + static_cast<ptrdiff_t>(n);
    return cell_->step(now, {all.begin(), middle}, {middle, all.end()});
  };
  const RnnResult r = rnn(step, x, states,
                          {.go_backwards = flags_.go_backwards,
                           .mask = c.mask(),
                           .constants = {c.inputs.end() - constants, c.inputs.end()},
                           .unroll = flags_.unroll});
  for (size_t i = 0; i < states_.size(); ++i) c.add_state_update({states_[i], r.new_states[i]});
  Tensors results{flags_.return_sequences ? r.outputs : r.last_output};
  if (flags_.return_state) results.insert(results.end(), r.new_states.begin(), r.new_states.end());
  return results;
}

Tensors RecurrentBody::compute_mask(const Tensors&, const Tensors& masks) {
  return {flags_.return_sequences && !masks.empty() ? masks[0] : Tensor()};
}

void RecurrentBody::set_states(const Arrays& values) {
  if (!flags_.stateful) throw RuntimeError("reset_states: layer " + name() + " is not stateful.");
  if (states_.empty() && values.empty()) return;  // zeros, once there are any
  if (states_.empty())
    throw RuntimeError("reset_states: layer " + name() + " has no states yet; call it first.");
  if (!values.empty() && values.size() != states_.size())
    throw ValueError("reset_states: layer " + name() + " has " + std::to_string(states_.size()) +
                     " states; got " + std::to_string(values.size()) + ".");
  std::vector<std::pair<Variable, Array>> pairs;
  for (size_t i = 0; i < states_.size(); ++i) {
    const Variable& state = states_[i];
    if (!values.empty() && values[i].shape() != state.shape())
      throw ValueError("reset_states: state " + std::to_string(i) + " of layer " + name() +
                       " has the shape " + state.shape().str() + "; got " +
                       values[i].shape().str() + ".");
    pairs.emplace_back(state, values.empty() ? Array::zeros(state.dtype(), state.shape().dims())
                                             : values[i].cast(state.dtype()));
  }
  batch_set_value(pairs);
}

// ---- StackedRNNCells

namespace {

class StackedCells final : public Cell {
 public:
  explicit StackedCells(std::vector<std::shared_ptr<Cell>> cells) : cells_(std::move(cells)) {
    if (cells_.empty()) throw ValueError("StackedRNNCells: cells must not be empty.");
  }
  std::string class_name() const override { return "StackedRNNCells"; }
  Ints state_size() const override {
    Ints sizes;
    for (const auto& cell : cells_)
      for (const int64_t size : cell->state_size()) sizes.push_back(size);
    return sizes;
  }
  int64_t output_size() const override { return cells_.back()->output_size(); }
  bool takes_constants() const override { return true; }
  std::vector<std::shared_ptr<Body>> parts() const override {
    return {cells_.begin(), cells_.end()};
  }
  void begin() override {
    for (const auto& cell : cells_) cell->begin();
  }
  void build(const Shapes& in) override {
    Shape x = in[0];
    const auto names = std::make_shared<std::map<std::string, int64_t>>();
    for (const auto& cell : cells_) {
      Shapes shapes{x};
      if (cell->takes_constants()) shapes.insert(shapes.end(), in.begin() + 1, in.end());
      cell->set_scope(scope(), names);
      cell->ensure_built(shapes);
      x = Shape(Ints{x.dim(0), cell->output_size()});
    }
  }
  RnnStep step(const Tensor& x, const Tensors& states, const Tensors& constants) override {
    RnnStep all{x, {}};
    auto from = states.begin();
    for (const auto& cell : cells_) {
      const auto to = from + static_cast<ptrdiff_t>(cell->state_size().size());
      const RnnStep s =
          cell->step(all.output, {from, to}, cell->takes_constants() ? constants : Tensors{});
      all.output = s.output;
      all.new_states.insert(all.new_states.end(), s.new_states.begin(), s.new_states.end());
      from = to;
    }
    return all;
  }
  std::shared_ptr<Cell> copy() const override {
    std::vector<std::shared_ptr<Cell>> cells;
    for (const auto& cell : cells_) cells.push_back(cell->copy());
    auto stack = std::make_shared<StackedCells>(std::move(cells));
    stack->set_options({.name = name(), .trainable = trainable(), .dtype = layer_options().dtype});
    return stack;
  }
  Json config() const override {
    Json::List cells;
    for (const auto& cell : cells_)
      cells.push_back(class_config(cell->class_name().c_str(), cell->full_config()));
    Json config;
    config.set("cells", cells);
    return config;
  }
  static std::shared_ptr<Body> from(const Json& config, const LoadContext& context) {
    refuse_field(config, "reverse_state_order");
    LayerOptions common = read_common(config);
    std::vector<std::shared_ptr<Cell>> cells;
    for (const Json& cell : config.at("cells", common.name).as_list(common.name + ": cells"))
      cells.push_back(cell_from(cell, context, common.name));
    auto body = std::make_shared<StackedCells>(std::move(cells));
    body->set_options(std::move(common));
    return body;
  }

 private:
  std::vector<std::shared_ptr<Cell>> cells_;
};

// ---- RNN

class RNNBody final : public RecurrentBody {
 public:
  RNNBody(std::shared_ptr<Cell> cell, const RecurrentFlags& flags)
      : RecurrentBody(std::move(cell), flags, Owner::user) {}
  std::string class_name() const override { return "RNN"; }
  Json config() const override {
    Json config;
    Writer writer{config};
    flag_fields(writer, flags());
    if (num_constants()) config.set("num_constants", *num_constants());
    config.set("cell", class_config(cell()->class_name().c_str(), cell()->full_config()));
    return config;
  }
  std::shared_ptr<RecurrentBody> reversed() const override {
    RecurrentFlags f = flags();
    f.go_backwards = !f.go_backwards;
    auto other = std::make_shared<RNNBody>(cell()->copy(), f);
    other->set_num_constants(num_constants());
    return other;
  }
  static std::shared_ptr<Body> from(const Json& config, const LoadContext& context) {
    refuse_field(config, "time_major");
    LayerOptions common = read_common(config);
    RecurrentFlags flags;
    Reader reader{config, common.name};
    flag_fields(reader, flags);
    auto body = std::make_shared<RNNBody>(
        cell_from(config.at("cell", common.name), context, common.name), flags);
    std::optional<int64_t> constants;
    reader("num_constants", constants);
    body->set_num_constants(constants);
    body->set_options(std::move(common));
    return body;
  }
};

RecurrentBody& recurrent(const Layer& layer, const char* function) {
  auto* body = dynamic_cast<RecurrentBody*>(&layer.body());
  if (!body)
    throw TypeError(std::string(function) + ": layer must be recurrent; got " + layer.name() +
                    ", a " + layer.class_name() + ".");
  return *body;
}

/// The layer itself, or the two of a Bidirectional.
std::vector<RecurrentBody*> recurrent_parts(const Layer& layer, const char* function) {
  if (layer.class_name() != "Bidirectional") return {&recurrent(layer, function)};
  std::vector<RecurrentBody*> both;
  for (const auto& part : layer.body().parts()) both.push_back(&recurrent(Layer(part), function));
  return both;
}

}  // namespace

Layer RNN(const Layer& cell, const RNNOptions& o) {
  auto body = std::make_shared<RNNBody>(cell_of(cell, "RNN"), flags_of(o));
  body->set_options(common_options(o));
  return Layer(std::move(body));
}

Layer RNN(const Layers& cells, const RNNOptions& o) { return RNN(StackedRNNCells(cells), o); }

Layer StackedRNNCells(const Layers& cells, const LayerOptions& options) {
  std::vector<std::shared_ptr<Cell>> bodies;
  for (const Layer& cell : cells) bodies.push_back(cell_of(cell, "StackedRNNCells"));
  auto body = std::make_shared<StackedCells>(std::move(bodies));
  body->set_options(options);
  return Layer(std::move(body));
}

Values call_with_state(const Layer& layer, const Value& x, const Values& initial_state,
                       const Values& constants) {
  if (!constants.empty())
    for (RecurrentBody* part : recurrent_parts(layer, "call_with_state"))
      part->set_num_constants(static_cast<int64_t>(constants.size()));
  Values inputs{x};
  inputs.insert(inputs.end(), initial_state.begin(), initial_state.end());
  inputs.insert(inputs.end(), constants.begin(), constants.end());
  return layer.call_all(inputs);
}

void reset_states(const Layer& layer, const Arrays& states) {
  const auto parts = recurrent_parts(layer, "reset_states");
  const size_t each = states.size() / parts.size();
  if (each * parts.size() != states.size())
    throw ValueError("reset_states: states must be as many for both directions; got " +
                     std::to_string(states.size()) + ".");
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto from = states.begin() + static_cast<ptrdiff_t>(i * each);
    parts[i]->set_states({from, from + static_cast<ptrdiff_t>(each)});
  }
}

Arrays get_states(const Layer& layer) {
  std::vector<Variable> all;
  for (const RecurrentBody* part : recurrent_parts(layer, "get_states"))
    all.insert(all.end(), part->states().begin(), part->states().end());
  return batch_get_value(all);
}

void add_recurrent_layers(LayerTable& t) {
  t["RNN"] = RNNBody::from;
  t["StackedRNNCells"] = StackedCells::from;
  add_simple_rnn_layers(t);
  add_gru_layers(t);
  add_lstm_layers(t);
  add_conv_lstm_layers(t);
}

}  // namespace horngate::keras
