#include "compile/rollout.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/sub.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/check.h"
#include "base/log.h"
#include "interop/convert.h"
#include "leapp/engine.h"
#include "runtime/engines/cpp/cpp_engine.h"
#include "runtime/engines/cpp/source_compiler.h"
#include "runtime/engines/in_place.h"
#include "session/backend.h"
#include "session/hooks.h"
#include "state/names.h"

namespace leapp::compile {
namespace {

using Origin = State::Origin;
using Tensors = std::vector<at::Tensor>;

at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.to(at::kCPU).contiguous();
}

std::vector<ConstTensorView> views_of(const Tensors& tensors) {
  std::vector<ConstTensorView> views;
  for (const at::Tensor& tensor : tensors) views.push_back(interop::view_of(tensor));
  return views;
}

// What a wire brings to an input of a model, and from how many passes ago.
struct Inlet {
  std::size_t from = 0;  // among the nodes
  std::string output;    // as annotated
  PortRef source;        // for the message
  int distance = 0;
  std::size_t first = 0;  // the pass that first received something
  trace::FrameRef where;
  const State* state = nullptr;  // that the input is; nullptr: it is a port of the node
};

// One node under way.
struct Runner {
  const CompiledNode* node = nullptr;
  std::string not_compared;  // why its values are not; empty when they are
  NodeValidation report;
  std::unique_ptr<Engine> engine;
  std::vector<std::optional<Inlet>> inlets;  // by input of the model
  std::vector<Tensors> put_out;              // by pass, on the host
};

// Why the values of a node that has a model cannot be compared; empty when they can.
std::string why_not_compared(const CompiledNode& node) {
  if (node.random) {
    return "it draws random numbers, so its outputs differ in every run; that its model runs was "
           "checked, its values were not";
  }
  if (node.model.backend == "pt2" && !session::hooks().replay) {
    return "it is a torch.export program, which only Python can run";
  }
  if (node.model.backend == "cpp" && find_compiler().empty()) {
    return "it is C++, and there is no compiler to build it with: install one ('apt-get install "
           "g++'), or name it with CXX";
  }
  return {};
}

// Whether there is what it takes to run its model here.
bool can_run(const CompiledNode& node) {
  if (!node.model.file) return false;
  if (node.model.backend == "pt2") return static_cast<bool>(session::hooks().replay);
  return node.model.backend != "cpp" || !find_compiler().empty();
}

// From this size of an export on, its weights are left in its files: a copy costs more than the
// slower ticks without it. Below, what runs is what will run on the robot, in every detail.
constexpr std::uintmax_t kManyWeights = std::uintmax_t{64} << 20;

bool have_many_weights(const std::vector<CompiledNode>& nodes,
                       const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  const auto add = [&](const FileEntry& file) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(folder / file.path, missing);
    if (!missing) bytes += size;
  };
  for (const CompiledNode& node : nodes) {
    if (node.model.file) add(*node.model.file);
    for (const FileEntry& file : node.model.external_data) add(file);
  }
  return bytes >= kManyWeights;
}

const State* state_called(const CompiledNode& node, const std::string& name) {
  const auto it = std::find_if(node.states.begin(), node.states.end(),
                               [&](const State& state) { return state.slot.name == name; });
  return it == node.states.end() ? nullptr : &*it;
}

std::string size_of_difference(const at::Tensor& a, const at::Tensor& b) {
  std::ostringstream text;
  const at::ScalarType type = at::isComplexType(a.scalar_type()) ? at::kComplexDouble : at::kDouble;
  text << at::sub(a.to(at::kCPU, type), b.to(at::kCPU, type)).abs().max().item().toDouble();
  return text.str();
}

class Roller {
 public:
  Roller(const std::vector<CompiledNode>& nodes, const std::filesystem::path& folder,
         const std::filesystem::path& log_path, Tolerance tolerance)
      : nodes_(nodes),
        folder_(folder),
        in_place_(have_many_weights(nodes, folder)),
        tolerance_(tolerance) {
    for (const CompiledNode& node : nodes) {
      Runner& runner = runners_.emplace_back(
          Runner{&node,
                 why_not_compared(node),
                 {node.model.name, node.output_names, tolerance, log_path.string()},
                 {},
                 std::vector<std::optional<Inlet>>(node.model.inputs.size()),
                 {}});
      runner.report.set_precisions(node.output_precisions);
    }
  }

  void connect(const Pipeline& pipeline) {
    for (const Wire& wire : pipeline.data_flow) {
      for (const PortRef& target : wire.targets) connect(wire, target, 0);
    }
    for (const Wire& wire : pipeline.feedback_flow) {
      for (const PortRef& target : wire.targets) connect(wire, target, 1);
    }
  }

  Rollout run() && {
    std::size_t passes = 0;
    for (const CompiledNode& node : nodes_) passes = std::max(passes, node.node->passes.size());
    for (pass_ = 0; pass_ < passes; ++pass_) {
      for (Runner& runner : runners_) {
        if (pass_ < runner.node->node->passes.size()) step(runner);
      }
    }
    for (Runner& runner : runners_) done_.outcomes.push_back(finish(runner));
    for (Runner& runner : runners_) done_.engines.push_back(std::move(runner.engine));
    return std::move(done_);
  }

 private:
  void connect(const Wire& wire, const PortRef& target, int ticks);
  void step(Runner& runner);
  Tensors inputs_of(const Runner& runner);
  at::Tensor carried_by(const Inlet& inlet) const;
  void check_carried(const Runner& runner, std::size_t input, const at::Tensor& traced,
                     const at::Tensor& carried);
  bool same(const Inlet& inlet, const at::Tensor& a, const at::Tensor& b) const;
  std::unique_ptr<Engine> engine_of(const CompiledNode& node,
                                    const std::filesystem::path& file) const;
  Tensors run_model(Runner& runner, Tensors inputs);
  Tensors traced_outputs(const CompiledNode& node, const Tensors& exported) const;
  NodeOutcome finish(Runner& runner) const;

  std::size_t index_of(const std::string& node) const {
    return static_cast<std::size_t>(find_node(nodes_, node) - nodes_.data());
  }

  const std::vector<CompiledNode>& nodes_;
  std::filesystem::path folder_;
  bool in_place_;  // weights are left in the files
  Tolerance tolerance_;
  std::vector<Runner> runners_;
  std::size_t pass_ = 0;
  Rollout done_;
};

void Roller::connect(const Wire& wire, const PortRef& target, int ticks) {
  Runner& runner = runners_[index_of(target.node)];
  const CompiledNode& to = *runner.node;
  const std::string& input = to.input_name(target.port);
  const NodePort* declared = session::find_port(to.node->inputs, input);
  Inlet inlet;
  if (declared != nullptr && declared->source) {
    // Also where states stand between the input and its source.
    const CompiledNode* from = find_node(nodes_, declared->source->node);
    const std::optional<int> distance = declared->age.distance();
    if (from == nullptr || !distance) return;
    const session::Age::Read& first = declared->age.first();
    inlet = {.from = index_of(from->model.name),
             .output = declared->source->port,
             .source = {from->model.name, declared->source->port},
             .distance = *distance,
             .first = static_cast<std::size_t>(first.pass),
             .where = first.where};
  } else {
    const State* state = state_called(to, input);
    if (state == nullptr || state->origin == Origin::kDelayed) return;
    const std::size_t from = index_of(wire.source.node);
    inlet = {.from = from,
             .output = nodes_[from].output_name(wire.source.port),
             .source = wire.source,
             .distance = ticks,
             .where = to.node->passes.back().opened_at,
             .state = state};
  }
  const auto& ports = to.model.inputs;
  const auto at = std::find_if(ports.begin(), ports.end(),
                               [&](const Port& port) { return port.name == target.port; });
  runner.inlets[static_cast<std::size_t>(at - ports.begin())] = std::move(inlet);
}

// What a wire carries in this pass; undefined where its source has not run.
at::Tensor Roller::carried_by(const Inlet& inlet) const {
  const Runner& from = runners_[inlet.from];
  const auto at = static_cast<std::ptrdiff_t>(pass_) - inlet.distance;
  if (pass_ < inlet.first || at < 0 || at >= std::ssize(from.put_out)) return {};
  const auto& names = from.node->output_names;
  const auto name = std::find(names.begin(), names.end(), inlet.output);
  if (name == names.end()) return {};
  return from.put_out[static_cast<std::size_t>(at)][static_cast<std::size_t>(name - names.begin())];
}

bool Roller::same(const Inlet& inlet, const at::Tensor& a, const at::Tensor& b) const {
  const CompiledNode& from = nodes_[inlet.from];
  Tolerance tolerance = tolerance_;
  for (std::size_t i = 0; i < from.output_precisions.size(); ++i) {
    if (from.output_names[i] != inlet.output) continue;
    tolerance = tolerance_for(from.output_precisions[i], tolerance);
  }
  return compare(interop::view_of(a), interop::view_of(b), tolerance).passed();
}

// An input that was not what its wire carries, unless it holds once more what it held before it
// received anything.
void Roller::check_carried(const Runner& runner, std::size_t input, const at::Tensor& traced,
                           const at::Tensor& carried) {
  const Inlet& inlet = *runner.inlets[input];
  const CompiledNode& to = *runner.node;
  if (done_.difference || same(inlet, traced, carried)) return;
  const std::size_t begun = std::min(std::max<std::size_t>(inlet.first, 1), pass_);
  for (std::size_t i = 0; inlet.distance > 0 && i < begun; ++i) {
    const at::Tensor then = to.input_value(i, to.input_names[input]);
    if (then.defined() && same(inlet, traced, on_host(then))) return;
  }
  const Node& reader = *to.node;
  const Node& source = *nodes_[inlet.from].node;
  std::string text =
      "the pipeline will not repeat what was traced: in pass " + std::to_string(pass_ + 1) +
      " of node '" + reader.name + "' its " + (inlet.state != nullptr ? "state '" : "input '") +
      to.model.inputs[input].name + "' was not what " + to_string(inlet.source) + " had put out" +
      (inlet.distance == 0   ? ""
       : inlet.distance == 1 ? " in the pass before"
                             : " earlier") +
      ", which the wire carries (largest difference " + size_of_difference(traced, carried) + "). ";
  if (std::abs(reader.completed - source.completed) > 1) {
    text += "Node '" + source.name + "' ran " + std::to_string(source.completed) + " times and '" +
            reader.name + "' " + std::to_string(reader.completed) +
            " times while tracing, and a bundle runs every node once a tick: trace them so, or "
            "run the slower one in a bundle of its own.";
  } else {
    text += "Something between the passes changes it: move that into a node.";
    if (inlet.distance > 0) {
      text +=
          " Where the program sets it anew, as at the start of an episode, do so at run time with "
          "InferenceManager.set_input_value().";
    }
  }
  done_.difference = state::warning(Code::kHandover, inlet.where, reader.name, std::move(text));
}

Tensors Roller::inputs_of(const Runner& runner) {
  Tensors inputs;
  for (std::size_t i = 0; i < runner.inlets.size(); ++i) {
    const std::string& name = runner.node->input_names[i];
    at::Tensor traced = runner.node->input_value(pass_, name);
    if (traced.defined()) traced = on_host(traced);
    const at::Tensor carried = runner.inlets[i] ? carried_by(*runner.inlets[i]) : at::Tensor();
    // Nobody saw what a state that was merely found holds, but for what its hypothesis says.
    const State* state = runner.inlets[i] ? runner.inlets[i]->state : nullptr;
    const bool is_found = state != nullptr && state->origin == Origin::kCarried;
    if (carried.defined() && (is_found || !traced.defined())) {
      inputs.push_back(carried);
      continue;
    }
    const Port& port = runner.node->model.inputs[i];
    require(traced.defined(), Code::kInternal, "no traced value for input '" + name + "'");
    require(traced.sizes() == at::IntArrayRef(port.shape) &&
                traced.scalar_type() == interop::to_scalar_type(port.dtype),
            Code::kValidationFailed,
            "the pass did something else than the one that was exported, and what it keeps does "
            "not fit that");
    if (carried.defined()) check_carried(runner, i, traced, carried);
    inputs.push_back(std::move(traced));
  }
  return inputs;
}

std::unique_ptr<Engine> Roller::engine_of(const CompiledNode& node,
                                          const std::filesystem::path& file) const {
  const Model& model = node.model;
  if (model.backend == "cpp") return compile_cpp_model(model, file);
  const bool ours = session::parse_backend(node.node->export_with) != session::Backend::kNone;
  if (in_place_ && ours) return load_engine_in_place(model, file);
  return load_engine(model, file, {}, Trust::kCode);  // the user's own, or small
}

Tensors Roller::run_model(Runner& runner, Tensors inputs) {
  const Model& model = runner.node->model;
  const std::filesystem::path file = folder_ / model.file->path;
  Tensors outputs;
  if (model.backend == "pt2") {
    for (const at::Tensor& output : session::hooks().replay(file, inputs)) {
      outputs.push_back(on_host(output));
    }
    return outputs;
  }
  if (!runner.engine) runner.engine = engine_of(*runner.node, file);
  std::vector<TensorView> written;
  for (const Port& port : model.outputs) {
    outputs.push_back(at::empty(port.shape, interop::to_scalar_type(port.dtype)));
    written.push_back({outputs.back().data_ptr(), port.dtype, port.shape});
  }
  runner.engine->bind(views_of(inputs), written)->run().value();
  return outputs;
}

// What the pass put out; where nobody saw that, what the model did.
Tensors Roller::traced_outputs(const CompiledNode& node, const Tensors& exported) const {
  Tensors outputs;
  for (std::size_t i = 0; i < node.output_names.size(); ++i) {
    const at::Tensor value = node.output_value(pass_, node.output_names[i]);
    const bool seen = value.defined() || exported.empty();
    outputs.push_back(!seen ? exported[i] : value.defined() ? on_host(value) : value);
  }
  return outputs;
}

void Roller::step(Runner& runner) {
  const CompiledNode& node = *runner.node;
  Tensors exported;
  try {
    Tensors inputs = inputs_of(runner);
    if (can_run(node)) exported = run_model(runner, std::move(inputs));
  } catch (const std::exception& error) {
    runner.report.add_error(pass_, error.what());
  }
  const Tensors traced = traced_outputs(node, exported);
  const bool compared = !exported.empty() && runner.not_compared.empty();
  if (compared) runner.report.add_sample(pass_, views_of(traced), views_of(exported));
  if (!exported.empty() && !compared) runner.report.add_run(pass_);
  runner.put_out.push_back(compared ? std::move(exported) : traced);
}

NodeOutcome Roller::finish(Runner& runner) const {
  if (runner.node->model.file) return runner.report.finish(runner.not_compared);
  log(LogLevel::kInfo, "node '" + runner.node->model.name + "' has no model to validate");
  return {.node = runner.node->model.name};  // treated as successful
}

}  // namespace

Rollout roll_out(const std::vector<CompiledNode>& nodes, const Pipeline& pipeline,
                 const std::filesystem::path& folder, const std::filesystem::path& log_path,
                 Tolerance tolerance) {
  Roller roller(nodes, folder, log_path, tolerance);
  roller.connect(pipeline);
  return std::move(roller).run();
}

}  // namespace leapp::compile
