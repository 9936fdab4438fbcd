// GRU, LSTM and plain recurrent networks as ONNX's own operators, one per layer; unrolled if ONNX
// Runtime has no such operator.
#include "export/onnx/kernels.h"
#include "export/onnx/nn.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// The mapping of one kind of recurrent network to its ONNX operator.
struct Kind {
  const char* op_type;
  std::vector<int> gates;  ///< for each of ONNX's gates in order, its index in PyTorch's weights
  std::string activation;  ///< of a plain network; otherwise empty
};

const Kind kGru = {"GRU", {1, 0, 2}, ""};       // ONNX z r h, PyTorch r z n
const Kind kLstm = {"LSTM", {0, 3, 1, 2}, ""};  // ONNX i o f c, PyTorch i f g o
const Kind kTanh = {"RNN", {0}, "Tanh"};
const Kind kRelu = {"RNN", {0}, "Relu"};

/// Returns the rows of each gate in ONNX's order.
Value reordered(Value weight, const Kind& kind) {
  if (kind.gates.size() == 1) return weight;
  const std::int64_t rows = weight.size(0) / static_cast<std::int64_t>(kind.gates.size());
  std::vector<Value> parts;
  for (const int gate : kind.gates)
    parts.push_back(slice(weight, 0, gate * rows, (gate + 1) * rows));
  return concat(parts, 0);
}

struct Direction {
  Value input_weight;
  Value hidden_weight;
  Value input_bias;  // undefined without biases
  Value hidden_bias;
  Value projection;  // of an LSTM with proj_size
};

/// The maximum number of time steps that are unrolled if the runtime has no operator.
constexpr std::int64_t kMaxSteps = 512;

class Network {
 public:
  Network(OpContext& context, const Kind& kind) : context_(context), kind_(kind) {
    bidirectional_ = context.flag("bidirectional");
    layers_ = context.integer("num_layers");
    has_biases_ = context.flag("has_biases");
    context.need(!context.flag("train") || context.number("dropout") == 0.0 || layers_ == 1,
                 "it applies dropout between its layers, which draws random numbers",
                 "Put the model in eval mode.");
    params_ = context.tensors("params");
    per_direction_ = params_.size() / static_cast<std::size_t>(layers_ * directions());
    projects_ = per_direction_ % 2 != 0;
  }

  /// Runs all layers over [time, batch, features]; `hidden` and `cell` are [layers * directions,
  /// batch, size], `cell` is undefined unless it is an LSTM.
  void run(Value x, Value hidden, Value cell) {
    std::vector<Value> last_hidden;
    std::vector<Value> last_cell;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      const std::int64_t first = layer * directions();
      const Value h = slice(hidden, 0, first, first + directions());
      const Value c = cell.defined() ? slice(cell, 0, first, first + directions()) : cell;
      const std::vector<Value> made =
          has_operator(x) ? run_layer(layer, x, h, c) : run_layer_by_steps(layer, x, h, c);
      // [time, directions, batch, size] to [time, batch, directions * size]
      const Value outputs = permute(made[0], {0, 2, 1, 3});
      x = reshape(outputs, {outputs.size(0), outputs.size(1), outputs.size(2) * outputs.size(3)});
      last_hidden.push_back(made[1]);
      if (cell.defined()) last_cell.push_back(made[2]);
    }
    output = x;
    final_hidden = concat(last_hidden, 0);
    if (cell.defined()) final_cell = concat(last_cell, 0);
  }

  Value output;
  Value final_hidden;
  Value final_cell;

 private:
  std::int64_t directions() const { return bidirectional_ ? 2 : 1; }

  Direction direction(std::int64_t layer, std::int64_t which) const {
    const std::size_t first =
        static_cast<std::size_t>(layer * directions() + which) * per_direction_;
    Direction found{params_[first], params_[first + 1], {}, {}, {}};
    if (has_biases_) {
      found.input_bias = params_[first + 2];
      found.hidden_bias = params_[first + 3];
    }
    if (projects_) found.projection = params_[first + per_direction_ - 1];
    return found;
  }

  /// Returns whether the runtime has the operator: only in single precision without projection.
  bool has_operator(Value x) const {
    return !projects_ && kernel_type(kind_.op_type, x.dtype()) == x.dtype();
  }

  /// Computes one time step: the next state. `gates` is the contribution of the input to the gates.
  void step(const Direction& d, Value gates, Value& hidden, Value& cell) const {
    const Value recurrent = affine(hidden, d.hidden_weight, d.hidden_bias);
    const auto gate = [&](Value of, std::int64_t i) {
      const std::int64_t size = of.size(-1) / static_cast<std::int64_t>(kind_.gates.size());
      return slice(of, -1, i * size, (i + 1) * size);
    };
    const auto both = [&](std::int64_t i) { return gate(gates, i) + gate(recurrent, i); };
    if (!kind_.activation.empty()) {
      hidden = kind_.activation == "Tanh" ? tanh(both(0)) : relu(both(0));
    } else if (!cell.defined()) {
      const Value update = sigmoid(both(1));
      const Value fresh = tanh(gate(gates, 2) + sigmoid(both(0)) * gate(recurrent, 2));
      hidden = fresh + update * (hidden - fresh);
    } else {
      cell = sigmoid(both(1)) * cell + sigmoid(both(0)) * tanh(both(2));
      hidden = sigmoid(both(3)) * tanh(cell);
      if (d.projection.defined()) hidden = affine(hidden, d.projection, Value());
    }
  }

  static Value affine(Value x, Value weight, Value bias) {
    const Value product = matmul(x, transpose(weight, 0, 1));
    return bias.defined() ? product + bias : product;
  }

  /// Returns the unrolled layer, with the same results as run_layer().
  std::vector<Value> run_layer_by_steps(std::int64_t layer, Value x, Value hidden, Value cell) {
    const std::int64_t time = x.size(0);
    context_.need(time * layers_ * directions() <= kMaxSteps,
                  "it would be unrolled into " + std::to_string(time * layers_ * directions()) +
                      " steps, because ONNX Runtime has no such operator for it",
                  "Convert to float32 and leave out proj_size, or use a shorter sequence.");
    std::vector<Value> outputs;
    std::vector<Value> last_hidden;
    std::vector<Value> last_cell;
    for (std::int64_t which = 0; which < directions(); ++which) {
      const Direction d = direction(layer, which);
      const Value gates = affine(x, d.input_weight, d.input_bias);
      Value h = select(hidden, 0, which);
      Value c = cell.defined() ? select(cell, 0, which) : cell;
      std::vector<Value> steps(static_cast<std::size_t>(time));
      for (std::int64_t i = 0; i < time; ++i) {
        const std::int64_t t = which == 0 ? i : time - 1 - i;
        step(d, select(gates, 0, t), h, c);
        steps[static_cast<std::size_t>(t)] = h;
      }
      outputs.push_back(stack(steps, 0));
      last_hidden.push_back(h);
      last_cell.push_back(c);
    }
    std::vector<Value> made = {stack(outputs, 1), stack(last_hidden, 0)};
    if (cell.defined()) made.push_back(stack(last_cell, 0));
    return made;
  }

  std::vector<Value> run_layer(std::int64_t layer, Value x, Value hidden, Value cell) {
    std::vector<Value> input_weights;
    std::vector<Value> hidden_weights;
    std::vector<Value> biases;
    for (std::int64_t which = 0; which < directions(); ++which) {
      const Direction d = direction(layer, which);
      input_weights.push_back(reordered(d.input_weight, kind_));
      hidden_weights.push_back(reordered(d.hidden_weight, kind_));
      if (has_biases_) {
        biases.push_back(
            concat({reordered(d.input_bias, kind_), reordered(d.hidden_bias, kind_)}, 0));
      }
    }
    const std::int64_t size = hidden.size(2);
    Attrs attributes = {{"direction", std::string(bidirectional_ ? "bidirectional" : "forward")},
                        {"hidden_size", size}};
    if (std::string_view(kind_.op_type) == "GRU") {
      attributes.push_back({"linear_before_reset", std::int64_t{1}});
    }
    if (!kind_.activation.empty()) {
      attributes.push_back(
          {"activations",
           std::vector<std::string>(static_cast<std::size_t>(directions()), kind_.activation)});
    }
    std::vector<Value> inputs = {x,
                                 stack(input_weights, 0),
                                 stack(hidden_weights, 0),
                                 has_biases_ ? stack(biases, 0) : Value(),
                                 Value(),  // every sequence runs its full length
                                 hidden};
    const DType dtype = x.dtype();
    const Type state{dtype, hidden.shape()};
    std::vector<Type> types = {{dtype, {x.size(0), directions(), x.size(1), size}}, state};
    if (cell.defined()) {
      inputs.push_back(cell);
      types.push_back(state);
    }
    return context_.builder().emit_many(kind_.op_type, inputs, std::move(attributes),
                                        std::move(types));
  }

  OpContext& context_;
  const Kind& kind_;
  bool bidirectional_ = false;
  bool has_biases_ = false;
  bool projects_ = false;
  std::int64_t layers_ = 1;
  std::size_t per_direction_ = 0;
  std::vector<Value> params_;
};

void convert(OpContext& context, const Kind& kind) {
  const bool is_lstm = std::string_view(kind.op_type) == "LSTM";
  Value x = context.tensor("input");
  const bool batch_first = context.flag("batch_first");
  if (batch_first) x = transpose(x, 0, 1);
  Value hidden;
  Value cell;
  if (is_lstm) {
    const std::vector<Value> states = context.tensors("hx");
    hidden = states.at(0);
    cell = states.at(1);
  } else {
    hidden = context.tensor("hx");
  }
  Network network(context, kind);
  network.run(x, hidden, cell);
  context.set(0, batch_first ? transpose(network.output, 0, 1) : network.output);
  context.set(1, network.final_hidden);
  if (is_lstm) context.set(2, network.final_cell);
}

/// The cells, one step each: the contributions of the input and the state to the gates, split so
/// that adjacent gates with the same function are computed together.
class Cell {
 public:
  Cell(OpContext& context, Value hidden)
      : from_input_(linear(context.tensor("input"), context.tensor("w_ih"),
                           context.optional_tensor("b_ih"))),
        from_state_(linear(hidden, context.tensor("w_hh"), context.optional_tensor("b_hh"))),
        size_(hidden.size(-1)) {}

  Value gates() const { return from_input_ + from_state_; }
  Value of_input(std::int64_t first, std::int64_t last) const {
    return cut(from_input_, first, last);
  }
  Value of_state(std::int64_t first, std::int64_t last) const {
    return cut(from_state_, first, last);
  }
  /// Returns the gates from `first` up to but excluding `last`, of a value with several gates.
  Value cut(Value of, std::int64_t first, std::int64_t last) const {
    return slice(of, of.rank() - 1, first * size_, last * size_);
  }

 private:
  Value from_input_;
  Value from_state_;
  std::int64_t size_;
};

Value convert_gru_cell(OpContext& context) {
  const Value hidden = context.tensor("hx");
  const Cell cell(context, hidden);
  const Value both = sigmoid(cell.of_input(0, 2) + cell.of_state(0, 2));  // reset, update
  const Value fresh = tanh(cell.of_input(2, 3) + cell.cut(both, 0, 1) * cell.of_state(2, 3));
  return fresh + cell.cut(both, 1, 2) * (hidden - fresh);
}

void convert_lstm_cell(OpContext& context) {
  const std::vector<Value> states = context.tensors("hx");
  const Cell cell(context, states.at(0));
  const Value gates = cell.gates();  // input, forget, cell, output
  const Value both = sigmoid(cell.cut(gates, 0, 2));
  const Value next =
      cell.cut(both, 1, 2) * states.at(1) + cell.cut(both, 0, 1) * tanh(cell.cut(gates, 2, 3));
  context.set(0, sigmoid(cell.cut(gates, 3, 4)) * tanh(next));
  context.set(1, next);
}

Value convert_plain_cell(OpContext& context, Value (*activation)(Value)) {
  return activation(Cell(context, context.tensor("hx")).gates());
}

}  // namespace

void register_recurrent(ConverterRegistry& registry) {
  registry.add("aten::gru.input", [](OpContext& context) { convert(context, kGru); });
  registry.add("aten::lstm.input", [](OpContext& context) { convert(context, kLstm); });
  registry.add("aten::rnn_tanh.input", [](OpContext& context) { convert(context, kTanh); });
  registry.add("aten::rnn_relu.input", [](OpContext& context) { convert(context, kRelu); });
  registry.add("aten::gru_cell", convert_gru_cell);
  registry.add("aten::lstm_cell", convert_lstm_cell);
  registry.add("aten::rnn_tanh_cell",
               [](OpContext& context) { return convert_plain_cell(context, tanh); });
  registry.add("aten::rnn_relu_cell",
               [](OpContext& context) { return convert_plain_cell(context, relu); });
}

}  // namespace leapp::onnx_export
