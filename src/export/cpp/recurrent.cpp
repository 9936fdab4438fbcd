// GRU and LSTM: a kernel per layer and direction, called for each row of each step. Plain recurrent
// networks need none, because PyTorch decomposes them.
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// One direction of one layer.
struct Cell {
  std::string name;  // name of the packed kernel
  std::int64_t input = 0;
  std::int64_t hidden = 0;
};

// Reads weights and biases: w_ih, w_hh, and b_ih, b_hh if there are any.
Cell make_cell(OpContext& context, const std::string& kind, const std::vector<ir::ValueId>& given) {
  Program& program = context.program();
  std::vector<BufferId> weights;
  for (const ir::ValueId id : given) {
    if (id == ir::kNoValue) continue;
    context.need(context.graph().is_constant(id), "its weights are not constants");
    weights.push_back(program.add_weight(context.graph().blob(id), context.graph().value(id).name));
  }
  context.need(weights.size() == 2 || weights.size() == 4, "it projects its hidden state");
  weights.resize(4, kNoBuffer);
  const Shape w_ih = program.buffer(weights[0]).shape;
  const Shape w_hh = program.buffer(weights[1]).shape;
  Cell cell{"", w_ih[1], w_hh[1]};
  program.use_kernel("recurrent.h");
  cell.name =
      program.add_packed(kind + "<" + type_text(program.buffer(weights[0]).dtype) + ", " +
                             std::to_string(cell.input) + ", " + std::to_string(cell.hidden) + ">",
                         weights);
  return cell;
}

// A copy of a state, which each step replaces.
Value state_copy(Program& program, const Value& state) {
  const BufferId to = program.add_scratch(state.dtype, state.shape);
  program.store(state, to);
  return program.read(to);
}

// x [T, B, I] in memory, states [B, H]; the outputs of all steps are written to y [T, B, .., H].
void run_steps(Program& program, const Cell& cell, const Value& x, const std::vector<Value>& states,
               const Value& y, bool backwards) {
  const Shape loops = {x.shape[0], x.shape[1]};
  const std::string text = program.nest(loops, 1, [&](const Indices& index, int depth) {
    const Index step = backwards ? index[0].times(-1).plus(x.shape[0] - 1) : index[0];
    std::string arguments = "&" + x.at({step, index[1], 0});
    for (const Value& state : states) arguments += ", &" + state.at({index[1], 0});
    return indented(depth) + cell.name + ".step(" + arguments + ", &" + y.at({step, index[1], 0}) +
           ");\n";
  });
  program.add_statement({}, text);
}

void generate_layers(OpContext& context, const std::string& kind) {
  Program& program = context.program();
  const bool batch_first = context.flag("batch_first");
  Value x = context.tensor("input");
  if (batch_first) x = transposed(x, 0, 1);
  x = program.stored(x);
  const auto params = context.values_of("params");
  const std::int64_t layers = context.integer("num_layers");
  const std::int64_t ways = context.flag("bidirectional") ? 2 : 1;
  const std::size_t each = params.size() / static_cast<std::size_t>(layers * ways);
  context.need(!context.flag("train") || context.number("dropout") == 0,
               "it applies dropout, which is random");
  const std::vector<Value> initial =
      kind == "LstmCell" ? context.tensors("hx") : std::vector<Value>{context.tensor("hx")};
  std::vector<std::vector<Value>> last(initial.size());
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    BufferId to = kNoBuffer;
    for (std::int64_t way = 0; way < ways; ++way) {
      const std::int64_t number = layer * ways + way;
      const auto first = params.begin() + static_cast<std::ptrdiff_t>(each) * number;
      const Cell cell =
          make_cell(context, kind, {first, first + static_cast<std::ptrdiff_t>(each)});
      if (way == 0) to = program.add_scratch(x.dtype, {x.shape[0], x.shape[1], ways * cell.hidden});
      std::vector<Value> states;
      for (std::size_t i = 0; i < initial.size(); ++i) {
        states.push_back(state_copy(program, selected(initial[i], 0, number)));
        last[i].push_back(states.back());
      }
      run_steps(program, cell, x, states,
                sliced(program.read(to), 2, way * cell.hidden, cell.hidden), way == 1);
    }
    x = program.read(to);
  }
  context.set(0, batch_first ? transposed(x, 0, 1) : x);
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (!context.is_used(i + 1)) continue;
    const BufferId to = program.add_scratch(x.dtype, context.result_shape(i + 1));
    for (std::size_t k = 0; k < last[i].size(); ++k) {
      program.write(last[i][k], selected(program.read(to), 0, static_cast<std::int64_t>(k)));
    }
    context.set(i + 1, program.read(to));
  }
}

void generate_cell(OpContext& context, const std::string& kind) {
  Program& program = context.program();
  std::vector<ir::ValueId> given;
  for (const char* name : {"w_ih", "w_hh", "b_ih", "b_hh"}) given.push_back(context.value_of(name));
  const Cell cell = make_cell(context, kind, given);
  const Value x = program.stored(context.tensor("input"));
  const std::vector<Value> initial =
      kind == "LstmCell" ? context.tensors("hx") : std::vector<Value>{context.tensor("hx")};
  context.need(x.rank() == 2, "its input has no batch");
  std::vector<Value> states;
  for (const Value& state : initial) states.push_back(state_copy(program, state));
  const BufferId to = program.add_scratch(x.dtype, states[0].shape);
  run_steps(program, cell, unsqueezed(x, 0), states, unsqueezed(program.read(to), 0), false);
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (context.is_used(i)) context.set(i, states[i]);
  }
}

}  // namespace

void register_recurrent(GeneratorRegistry& registry) {
  registry.add({"aten::gru.input"},
               [](OpContext& context) { generate_layers(context, "GruCell"); });
  registry.add({"aten::lstm.input"},
               [](OpContext& context) { generate_layers(context, "LstmCell"); });
  registry.add({"aten::gru_cell"}, [](OpContext& context) { generate_cell(context, "GruCell"); });
  registry.add({"aten::lstm_cell"}, [](OpContext& context) { generate_cell(context, "LstmCell"); });
}

}  // namespace leapp::cpp_export
