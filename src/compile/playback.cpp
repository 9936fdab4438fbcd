#include "compile/playback.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/check.h"
#include "compile/rerun.h"
#include "compile/schedule.h"
#include "state/names.h"
#include "trace/functional.h"

namespace leapp::compile {
namespace {

using session::NodePort;
using session::NodeRun;
using session::Pass;
using session::PlayedPass;
using session::PortId;
using trace::NodeId;

c10::OperatorHandle op(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

// The passes that output elements of one chunk: the pass that computed it, and those that play it.
struct Turn {
  const Pass* computed = nullptr;
  std::vector<const PlayedPass*> played = {};

  std::size_t length() const { return played.size() + 1; }
};

std::vector<Turn> turns_of(const Node& node) {
  std::vector<Turn> turns;
  for (const Pass& pass : node.passes) turns.push_back({&pass});
  for (const PlayedPass& pass : node.played) turns[pass.source].played.push_back(&pass);
  return turns;
}

[[noreturn]] void refuse(const Node& node, const std::string& why) {
  throw Error(Code::kRates,
              trace::line_prefix(node.passes.front().closed_at) + "node '" + node.name +
                  "' outputs results of earlier passes in some of its passes, as a policy that "
                  "computes a chunk of actions and outputs one per tick. " +
                  why);
}

class Splitter {
 public:
  Splitter(const Node& node, NodeId id, trace::CaptureTable& captures)
      : node_(node), id_(id), captures_(captures), turns_(turns_of(node)) {
    length_ = turns_.front().length();
    while (turns_.size() > 1 && turns_.back().length() < length_)
      turns_.pop_back();  // the trace ended
    for (const Turn& turn : turns_) {
      if (turn.length() == length_) continue;
      refuse(node_, "It output " + std::to_string(length_) + " elements of the first chunk and " +
                        std::to_string(turn.length()) +
                        " of a later one, so no period is certain. Reset its queue only between "
                        "leapp.start() and leapp.stop(), and compute the chunk in a node of its "
                        "own if its length varies.");
    }
  }

  // Returns the node that computes chunks. It has an id of its own.
  Node computing() {
    Node made = node_;
    made.id = id_;
    made.played.clear();
    made.outputs.clear();
    for (const NodePort& port : node_.outputs) made.outputs.push_back(chunk_port(port));
    made.passes.clear();
    for (const Turn& turn : turns_) made.passes.push_back(computing_pass(turn));
    return made;
  }

  // Returns the node that plays them. It has the id of the original one, whose outputs it has.
  Node playing(const std::string& name) const {
    Node made;
    made.name = name;
    made.is_playback = true;
    made.id = node_.id;
    made.completed = node_.completed;
    made.completion = node_.completion;
    made.turns = node_.turns;
    made.outputs = node_.outputs;
    made.export_with = playing_backend();
    for (const NodePort& port : node_.outputs) made.inputs.push_back(chunk_port(port));
    for (NodePort& port : made.inputs) port.source = PortId{id_, port.name};
    made.inputs.push_back({{.name = age_name(), .dtype = DType::kInt64, .shape = {1}}});
    for (const Turn& turn : turns_) {
      const std::vector<at::Tensor> chunks = chunks_of(turn);
      for (std::size_t i = 0; i < length_; ++i) {
        made.passes.push_back(playing_pass(made, turn, chunks, i));
      }
    }
    return made;
  }

  std::string age_name() const {
    std::string name = "age";
    while (session::find_port(node_.outputs, name) != nullptr) name += "_";
    return name;
  }

 private:
  // The selection of an element needs none of the other exporters.
  std::optional<std::string> playing_backend() const {
    const std::string wanted = node_.export_with.value_or("onnx");
    return wanted == "jit" || wanted == "cpp" ? wanted : "onnx";
  }

  static std::string chunk_name(const NodePort& output) { return output.name + "_chunk"; }

  NodePort chunk_port(const NodePort& output) const {
    Shape shape = output.shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(length_));
    return {{.name = chunk_name(output), .dtype = output.dtype, .shape = std::move(shape)}};
  }

  // Returns the values of an output in the passes of a turn.
  static std::vector<at::Tensor> elements_of(const Turn& turn, std::size_t output) {
    std::vector<at::Tensor> elements = {turn.computed->outputs[output]};
    for (const PlayedPass* pass : turn.played) elements.push_back(pass->outputs[output]);
    return elements;
  }

  // Returns one chunk for each output. All passes of the turn share them.
  std::vector<at::Tensor> chunks_of(const Turn& turn) const {
    std::vector<at::Tensor> chunks;
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      chunks.push_back(at::stack(elements_of(turn, i)));
    }
    return chunks;
  }

  // The pass with calls that join its elements.
  Pass computing_pass(const Turn& turn) {
    Pass pass = *turn.computed;
    pass.recording.tape = std::make_shared<trace::Tape>(turn.computed->tape());
    trace::Tape& tape = *pass.recording.tape;
    for (std::size_t output = 0; output < node_.outputs.size(); ++output) {
      std::vector<trace::VarId> vars = {turn.computed->recording.outputs[output].var};
      for (const PlayedPass* played : turn.played) {
        vars.push_back(selected_in(tape, *played, played->recording.outputs[output].var));
      }
      const Known chunk =
          record_call(op("aten::stack"), {elements_of(turn, output), std::int64_t{0}}, vars,
                      pass.closed_at, id_, tape)
              .front();
      pass.recording.outputs[output] = {chunk_name(node_.outputs[output]), chunk.var};
      pass.outputs[output] = chunk.tensor;
    }
    rename(pass);
    pass.recording.end_call = tape.call_count();
    return pass;
  }

  // Gives the calls and the memory of the pass to the computing node. Reads of the original node's
  // outputs are reads of the playing node.
  void rename(Pass& pass) const {
    for (trace::Call& call : pass.recording.tape->calls()) {
      if (call.node == node_.id) call.node = id_;
    }
    const auto rename_writer = [&](std::optional<session::MemoryUse::Writer>& writer) {
      if (writer && writer->node == node_.id) writer->node = id_;
    };
    for (session::MemoryUse& use : pass.memory) rename_writer(use.writer);
    for (session::OutsideRead& read : pass.outside) {
      rename_writer(read.writer);
      if (read.from == node_.id) read.from = id_;
    }
  }

  // Repeats the calls of a played pass that select the variable, and returns its result.
  trace::VarId selected_in(trace::Tape& tape, const PlayedPass& played, trace::VarId var) const {
    std::map<trace::VarId, Known> known;
    const trace::Tape& from = *played.recording.tape;
    for (const auto& [own, source] : played.taken) known[own] = {from.content(own), source};
    for (const std::int32_t index : played.recording.calls) repeat(from, index, known, tape);
    return known.at(var).var;
  }

  void repeat(const trace::Tape& from, std::int32_t index, std::map<trace::VarId, Known>& known,
              trace::Tape& tape) const {
    const trace::Call& call = from.call(index);
    const trace::Arg* args = from.args_of(call);
    torch::jit::Stack stack;
    std::vector<trace::VarId> vars;
    const auto value_of = [&](trace::VarId var) {
      if (var == trace::kNoId) return at::Tensor();
      if (!known.contains(var)) {
        const at::Tensor constant = from.content(var);
        known[var] = {constant, tape.add_outside(constant, true)};
      }
      vars.push_back(known[var].var);
      return known[var].tensor;
    };
    for (std::size_t i = 0; i < call.op.schema().arguments().size(); ++i) {
      if (args[i].kind == trace::Arg::Kind::kTensor) {
        stack.emplace_back(value_of(args[i].var));
      } else if (args[i].kind == trace::Arg::Kind::kTensorList) {
        std::vector<at::Tensor> items;
        for (std::int32_t k = 0; k < args[i].list_size; ++k) {
          items.push_back(value_of(from.list_item(args[i].list_begin + k)));
        }
        stack.emplace_back(items);
      } else {
        stack.push_back(args[i].value);
        // A number that PyTorch passes as a tensor has no variable.
        trace::for_each_tensor(std::span(&args[i].value, 1),
                               [&](const at::Tensor&) { vars.push_back(trace::kNoId); });
      }
    }
    const std::vector<Known> made =
        record_call(call.op, std::move(stack), vars, call.frame, id_, tape);
    std::size_t next = 0;
    trace::for_each_result(from, call, [&](trace::VarId var) { known[var] = made.at(next++); });
  }

  Pass playing_pass(const Node& made, const Turn& turn, const std::vector<at::Tensor>& values,
                    std::size_t index) const {
    Pass pass;
    pass.number = turn.computed->number;
    pass.opened_at = turn.computed->opened_at;
    pass.closed_at = turn.computed->closed_at;
    pass.recording.tape = std::make_shared<trace::Tape>(captures_);
    trace::Tape& tape = *pass.recording.tape;
    const auto add_input = [&](const std::string& name, const at::Tensor& value) {
      pass.inputs.push_back(value);
      pass.recording.inputs.push_back({name, tape.add_input(value, made.id)});
      return Known{value, pass.recording.inputs.back().var};
    };
    const auto run = [&](const c10::OperatorHandle& called, torch::jit::Stack arguments,
                         const std::vector<trace::VarId>& vars) {
      return record_call(called, std::move(arguments), vars, pass.closed_at, made.id, tape).front();
    };
    std::vector<Known> chunks;
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      chunks.push_back(add_input(made.inputs[i].name, values[i]));
    }
    const Known age =
        add_input(made.inputs.back().name,
                  at::full({1}, static_cast<std::int64_t>(index), at::TensorOptions(at::kLong)));
    const auto last = static_cast<std::int64_t>(length_) - 1;
    const Known place =
        run(op("aten::clamp"), {age.tensor, at::Scalar(0), at::Scalar(last)}, {age.var});
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      const Known element = run(op("aten::index_select"), {chunks[i].tensor, 0, place.tensor},
                                {chunks[i].var, place.var});
      const Known output = run(op("aten::squeeze", "dim"), {element.tensor, 0}, {element.var});
      pass.recording.outputs.push_back({made.outputs[i].name, output.var});
      pass.outputs.push_back(index == 0 ? turn.computed->outputs[i]
                                        : turn.played[index - 1]->outputs[i]);
    }
    pass.recording.end_call = tape.call_count();
    return pass;
  }

  const Node& node_;
  NodeId id_;
  trace::CaptureTable& captures_;
  std::vector<Turn> turns_;
  std::size_t length_ = 0;
};

// Replaces the runs of a node by those of the two nodes that it became.
session::RunLog split_runs(const session::RunLog& runs, Node& computing, Node& playing) {
  session::RunLog split;
  for (NodePort& input : computing.inputs) input.age = {};
  computing.completed = 0;
  computing.turns = 0;
  int chunk_from = 0;
  for (const NodeRun& run : runs) {
    if (run.node != playing.id) {
      split.push_back(run);
      continue;
    }
    if (!run.played) {
      NodeRun& compute = split.emplace_back(run);
      compute.node = computing.id;
      compute.pass = computing.completed++;
      compute.numbers.assign(computing.outputs.size(), std::nullopt);
      for (std::size_t i = 0; i < compute.inputs.size(); ++i) {
        compute.inputs[i].read.pass = compute.pass;
        compute.inputs[i].is_unchanged = true;
        if (compute.inputs[i].source) computing.inputs[i].age.add(compute.inputs[i].read);
      }
      ++computing.turns;
      chunk_from = run.pass;
    }
    NodeRun play = {.node = playing.id, .pass = run.pass};
    for (const NodePort& input : playing.inputs) {
      NodeRun::Input& received = play.inputs.emplace_back();
      if (!input.source) {
        received.number = run.pass - chunk_from;
        received.is_unchanged = false;
        continue;
      }
      received.source = input.source;
      received.read = {run.pass, computing.completed - 1, computing.completed, {}};
    }
    play.numbers = run.numbers;
    for (std::size_t i = 0; i + 1 < playing.inputs.size(); ++i) {
      playing.inputs[i].age.add(play.inputs[i].read);
    }
    split.push_back(std::move(play));
  }
  return split;
}

std::string unused_name(std::span<const Node* const> nodes, const std::string& name) {
  std::string wish = name + session::kPlaybackSuffix;
  while (std::ranges::count(nodes, wish, &Node::name) > 0) wish += "_";
  return wish;
}

}  // namespace

Playback split_playing_nodes(std::span<const Node* const> nodes, session::Session& session,
                             trace::CaptureTable& captures) {
  Playback done{.nodes = {},
                .runs = session.runs(),
                .schedule = stated_schedule(session.options().schedule, nodes)};
  const auto plays = [](const Node* node) { return !node->played.empty() && node->has_graph(); };
  if (std::ranges::none_of(nodes, plays)) {
    done.nodes.assign(nodes.begin(), nodes.end());
    return done;
  }
  const at::NoGradGuard no_grad;
  auto next_id = static_cast<NodeId>(nodes.size());
  for (const Node* node : nodes) {
    Node& computing = done.made.emplace_back(*node);
    computing.completion *= 2;  // leaves room for the playing nodes
    if (!plays(node)) continue;
    Splitter splitter(*node, next_id++, captures);
    const int completion = std::exchange(computing, splitter.computing()).completion;
    Node& playing = done.made.emplace_back(splitter.playing(unused_name(nodes, node->name)));
    computing.completion = completion;
    playing.completion = completion + 1;
    done.runs = split_runs(done.runs, computing, playing);
    done.schedule.push_back(
        {.node = playing.name, .ages = {{splitter.age_name(), computing.name}}});
  }
  for (const Node& node : done.made) done.nodes.push_back(&node);
  return done;
}

}  // namespace leapp::compile
