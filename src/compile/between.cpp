#include "compile/between.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>

#include <algorithm>
#include <set>

#include "compile/rerun.h"
#include "interop/convert.h"
#include "state/names.h"
#include "trace/constant.h"

namespace leapp::compile {
namespace {

using session::Between;
using session::BetweenCall;
using session::NodePort;
using session::Pass;
using session::PortId;
using session::Route;

constexpr const char* kNotKept =
    "it reads an input of a node or outputs of several passes, writes to part of a tensor, or "
    "cannot be repeated";

bool are_same(const at::Tensor& a, const at::Tensor& b) {
  const bool rounds = a.is_floating_point() || a.is_complex();
  return trace::same_type(a, b) &&
         (rounds ? at::allclose(a, b, 1e-5, 1e-6, true) : at::equal(a, b));
}

std::size_t position_of(const std::vector<NodePort>& ports, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(ports, name, &NodePort::name) - ports.begin());
}

/// What one input, or undeclared read, received through calls between nodes, pass by pass.
struct Gap {
  const Node* reader = nullptr;
  NodePort port = {};                         // the input, or one like what is read
  std::size_t first = 0;                      // the pass that first received something
  std::vector<const Between*> received = {};  // from that pass on
  std::vector<at::Tensor> values = {};        // likewise
  std::vector<trace::VarId> reads = {};       // likewise; empty for an input

  bool is_declared() const { return reads.empty(); }
  std::string name() const {
    return is_declared() ? reader->name + "/" + port.name
                         : "what node '" + reader->name + "' reads undeclared";
  }
  void add(std::size_t pass, const Between& between, at::Tensor value) {
    if (received.empty()) first = pass;
    received.push_back(&between);
    values.push_back(std::move(value));
  }
  const Between& example() const { return *received.front(); }
  const Route& route() const { return example().route; }
  std::string pass_text(std::size_t i) const {
    return "in pass " + std::to_string(first + i + 1) + " of node '" + reader->name + "' ";
  }
};

class Taker {
 public:
  Taker(std::span<const Node* const> recorded, state::Findings& findings)
      : recorded_(recorded), findings_(findings) {}

  void take(const Gap& gap);
  std::map<NodeId, Node> finish() && { return std::move(changed_); }

 private:
  const Node& node_at(NodeId id) const {
    const auto it = changed_.find(id);
    return it != changed_.end() ? it->second : *session::find_node(recorded_, id);
  }
  std::string try_to_take(const Gap& gap, std::string& taken_by);
  std::string why_not(const Gap& gap, const Node& writer) const;
  std::string add_output(const Gap& gap, Node& writer) const;
  void add_source(const PortId& source, trace::FrameRef where, Node& writer,
                  std::vector<Rerun::Sources>& known) const;
  void connect(const Gap& gap, const PortId& source);
  void say(const Gap& gap, LogLevel level, const std::string& what);

  std::span<const Node* const> recorded_;
  state::Findings& findings_;
  std::map<NodeId, Node> changed_;
  // Results of calls that nodes put out by now, with the names of the outputs.
  std::map<std::pair<const BetweenCall*, std::size_t>, std::string> put_out_;
};

std::string Taker::why_not(const Gap& gap, const Node& writer) const {
  if (gap.first + gap.received.size() != gap.reader->passes.size() || gap.port.source) {
    return "not every pass of node '" + gap.reader->name + "' receives it";
  }
  if (!writer.has_graph()) return "node '" + writer.name + "' has no graph of LEAPP's";
  for (const auto& [node, pass] : gap.route().call->passes) {
    if (node_at(node).passes.size() < writer.passes.size()) {
      return "node '" + node_at(node).name + "' has fewer passes than node '" + writer.name + "'";
    }
  }
  if (gap.route().call->reads_constants && gap.received.size() < 2) {
    return "one pass does not show whether the tensors that it reads besides are constants: trace "
           "another one";
  }
  return {};
}

// Where a pass received something else than the writer put out under that name, and what.
std::string difference(const Gap& gap, const Node& writer, const std::string& output) {
  const std::size_t position = position_of(writer.outputs, output);
  for (std::size_t i = 0; i < gap.received.size(); ++i) {
    const std::string where = gap.pass_text(i);
    const Route& route = gap.received[i]->route;
    if (!route.call) return where + kNotKept;
    if (route.call->sources != gap.route().call->sources) return where + "it reads other outputs";
    const auto pass = static_cast<std::size_t>(route.call->passes.at(writer.id));
    for (const auto& [node, other] : route.call->passes) {
      if (static_cast<std::size_t>(other) != pass) {
        return where + "it reads outputs of different passes";
      }
    }
    if (writer.passes.size() <= pass) return where + "it reads values of passes that were not kept";
    if (!are_same(writer.passes[pass].outputs[position], gap.values[i])) {
      return where + "it gives something else";
    }
  }
  return {};
}

// What the calls begin with, in each pass of the node that takes them in: an output of its own, or
// one more input for that of another node.
void Taker::add_source(const PortId& source, trace::FrameRef where, Node& writer,
                       std::vector<Rerun::Sources>& known) const {
  const Node& from = node_at(source.node);
  const std::size_t output = position_of(from.outputs, source.port);
  const bool is_own = source.node == writer.id;
  const std::ptrdiff_t at = std::ssize(writer.inputs);
  NodePort input = from.outputs[output];
  input.name = state::unused_name(writer, {}, source.port);
  input.is_between = input.is_static = false;
  input.source = source;
  for (std::size_t i = 0; i < known.size(); ++i) {
    Pass& pass = writer.passes[i];
    trace::Recording& recording = pass.recording;
    const at::Tensor value = from.passes[i].outputs[output];
    if (is_own) {
      const bool is_constant = output >= recording.outputs.size();  // those come last
      known[i][source] = {value, is_constant ? recording.tape->add_outside(value, true)
                                             : recording.outputs[output].var};
      continue;
    }
    const trace::VarId var = recording.tape->add_input(value, writer.id);
    known[i][source] = {value, var};
    recording.inputs.insert(recording.inputs.begin() + at, {input.name, var});
    pass.inputs.insert(pass.inputs.begin() + at, value);
    const auto number = static_cast<int>(i);
    input.age.add({number, number, number + 1, where});
  }
  if (!is_own) writer.inputs.push_back(std::move(input));
}

// Puts out what the calls give; the name of the output.
std::string Taker::add_output(const Gap& gap, Node& writer) const {
  NodePort port = gap.port;
  port.name = state::unused_name(writer, {}, port.name);
  port.is_between = true;
  port.age = {};
  for (Pass& pass : writer.passes) {  // what was recorded stays as it is
    pass.recording.tape = std::make_shared<trace::Tape>(pass.tape());
  }
  std::vector<Rerun::Sources> known(writer.passes.size());
  for (const PortId& source : gap.route().call->sources) {
    add_source(source, gap.example().received_at, writer, known);
  }
  const std::ptrdiff_t at = std::ssize(writer.passes.front().recording.outputs);
  for (std::size_t i = 0; i < known.size(); ++i) {
    Pass& pass = writer.passes[i];
    trace::Recording& recording = pass.recording;
    const Rerun::Known made =
        Rerun(std::move(known[i]), *recording.tape, writer.id).value_of(gap.route());
    recording.outputs.push_back({port.name, made.var});
    recording.end_call = recording.tape->call_count();
    pass.outputs.insert(pass.outputs.begin() + at, trace::copy_of(made.tensor));
  }
  return writer.outputs.insert(writer.outputs.begin() + at, std::move(port))->name;
}

void Taker::say(const Gap& gap, LogLevel level, const std::string& what) {
  const Between& example = gap.example();
  const PortId& from = example.route.port;
  const std::size_t more = example.detours.size() - 1;
  findings_.push_back(state::finding(
      Code::kUntracedCompute, level, trace::resolve_source(example.detours.front().frame),
      gap.reader->name,
      gap.name() + " comes from " + node_at(from.node).name + "/" + from.port + " through " +
          example.detours.front().op + (more > 0 ? " and " + std::to_string(more) + " more" : "") +
          ", which is in no node: " + what));
}

// The input, or the read, receives that output.
void Taker::connect(const Gap& gap, const PortId& source) {
  Node& reader = changed_.try_emplace(gap.reader->id, *gap.reader).first->second;
  for (std::size_t i = 0; i < gap.reads.size(); ++i) {
    std::vector<session::OutsideRead>& outside = reader.passes[gap.first + i].outside;
    const auto read = std::ranges::find(outside, gap.reads[i], &session::OutsideRead::var);
    read->source = source;
    read->source_pass = gap.received[i]->route.call->passes.at(source.node);
  }
  if (!gap.is_declared()) return;
  NodePort& port = reader.inputs[position_of(reader.inputs, gap.port.name)];
  port.source = source;
  for (std::size_t i = 0; i < gap.received.size(); ++i) {
    const Between& between = *gap.received[i];
    port.age.add({static_cast<int>(gap.first + i), between.route.call->passes.at(source.node),
                  between.completed.at(source.node), between.received_at});
  }
}

// Why the calls cannot be part of a node; empty where they have become one, of that name.
std::string Taker::try_to_take(const Gap& gap, std::string& taken_by) {
  const Route& route = gap.route();
  if (!route.call) return kNotKept;
  Node writer;  // the last of those whose outputs it reads
  for (const auto& [node, pass] : route.call->passes) {
    if (node_at(node).completion > writer.completion) writer = node_at(node);
  }
  if (std::string reason = why_not(gap, writer); !reason.empty()) return reason;
  const auto key = std::pair(route.call.get(), route.result);
  PortId source = {writer.id, {}};
  try {
    source.port = put_out_.contains(key) ? put_out_.at(key) : add_output(gap, writer);
  } catch (const c10::Error&) {  // calls that do not fit together: something else happened between
    return gap.pass_text(0) + "it gives something else";
  }
  if (std::string reason = difference(gap, writer, source.port); !reason.empty()) return reason;
  put_out_[key] = source.port;
  taken_by = writer.name;
  changed_[writer.id] = std::move(writer);
  connect(gap, source);
  return {};
}

void Taker::take(const Gap& gap) {
  std::string taken_by;
  const std::string reason = try_to_take(gap, taken_by);
  if (!reason.empty() && !gap.is_declared()) return;  // then passes differ, which is said
  if (!reason.empty()) {
    say(gap, LogLevel::kWarning,
        "the exported pipeline will not run it, since " + reason +
            ". Move it into a node, unless it stands for the world around them, a simulator say.");
    return;
  }
  const bool doubtful = gap.route().call->reads_constants;
  say(gap, doubtful ? LogLevel::kWarning : LogLevel::kInfo,
      "it is exported as part of node '" + taken_by + "'" +
          (doubtful ? ", and the tensors that it reads besides as constants. Where they change, "
                      "pass them through annotate.input_tensors() of a node that does this"
                    : ""));
}

std::vector<Gap> gaps_of(const Node& reader) {
  std::vector<Gap> gaps;
  for (std::size_t input = 0; input < reader.inputs.size(); ++input) {
    Gap gap{.reader = &reader, .port = reader.inputs[input]};
    for (std::size_t i = 0; i < reader.passes.size(); ++i) {
      for (const Between& between : reader.passes[i].between) {
        if (between.input != gap.port.name) continue;
        gap.add(i, between, reader.passes[i].inputs[input]);
      }
    }
    if (!gap.received.empty()) gaps.push_back(std::move(gap));
  }
  return gaps;
}

// The same of what is read undeclared: the first such read of every pass, the second, ..
std::vector<Gap> undeclared_gaps_of(const Node& reader) {
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < reader.passes.size(); ++i) {
    std::size_t number = 0;
    for (const session::OutsideRead& read : reader.passes[i].outside) {
      if (!read.between) continue;
      const at::Tensor value = reader.passes[i].tape().content(read.var);
      if (number == gaps.size()) {
        NodePort port;
        port.name = read.between->route.port.port;
        port.dtype = interop::to_dtype(value.scalar_type());
        port.shape = value.sizes().vec();
        gaps.push_back({.reader = &reader, .port = std::move(port)});
      }
      gaps[number].add(i, *read.between, value);
      gaps[number].reads.push_back(read.var);
      ++number;
    }
  }
  return gaps;
}

}  // namespace

std::map<NodeId, Node> take_between(std::span<const Node* const> recorded,
                                    state::Findings& findings) {
  const at::NoGradGuard no_grad;
  Taker taker(recorded, findings);
  for (const Node* node : recorded) {
    for (const Gap& gap : gaps_of(*node)) taker.take(gap);
    for (const Gap& gap : undeclared_gaps_of(*node)) taker.take(gap);
  }
  return std::move(taker).finish();
}

}  // namespace leapp::compile
