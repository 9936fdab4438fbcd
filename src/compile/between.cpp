#include "compile/between.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>

#include <algorithm>
#include <set>

#include "compile/rerun.h"
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
using trace::Tape;
using trace::VarId;

constexpr const char* kNotKept =
    "it reads an input of a node or outputs of several passes, writes to part of a tensor, or "
    "cannot be repeated";

bool are_same(const at::Tensor& a, const at::Tensor& b) {
  const bool rounds = a.is_floating_point() || a.is_complex();
  return trace::same_type(a, b) &&
         (rounds ? at::allclose(a, b, 1e-5, 1e-6, true) : at::equal(a, b));
}

// Whether the route leads from these outputs to that value.
bool gives(const Route& route, Rerun::Sources sources, const at::Tensor& value) {
  try {
    return are_same(Rerun(std::move(sources)).value_of(route).tensor, value);
  } catch (const c10::Error&) {  // calls that do not fit together: something else happened between
    return false;
  }
}

std::size_t position_of(const std::vector<NodePort>& ports, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(ports, name, &NodePort::name) - ports.begin());
}

/// What one input received through calls between nodes, pass by pass.
struct Gap {
  const Node* reader = nullptr;
  std::size_t input = 0;
  std::size_t first = 0;                      // the pass that first received something
  std::vector<const Between*> received = {};  // from that pass on

  const NodePort& port() const { return reader->inputs[input]; }
  const Between& example() const { return *received.front(); }
  const Route& route() const { return example().route; }
};

class Taker {
 public:
  Taker(std::span<const Node* const> recorded, const std::function<bool(const Node&)>& can_take,
        state::Findings& findings)
      : recorded_(recorded), can_take_(can_take), findings_(findings) {}

  void take(const Gap& gap);
  std::map<NodeId, Node> finish() && { return std::move(changed_); }

 private:
  const Node& node_at(NodeId id) const {
    const auto it = changed_.find(id);
    return it != changed_.end() ? it->second : *session::find_node(recorded_, id);
  }
  Node& changing(NodeId id) {
    return changed_.try_emplace(id, *session::find_node(recorded_, id)).first->second;
  }
  std::string why_not(const Gap& gap, const Node& writer) const;
  std::string check_passes(const Gap& gap, const Node& writer) const;
  at::Tensor value_of(const PortId& source, std::size_t pass) const;
  std::string add_output(const Gap& gap, Node& writer);
  std::map<PortId, std::string> add_inputs(const Gap& gap, Node& writer);
  void append(const Gap& gap, const std::map<PortId, std::string>& inputs, const std::string& name,
              Node& writer, std::size_t pass) const;
  void say(const Gap& gap, LogLevel level, const std::string& what);

  std::span<const Node* const> recorded_;
  const std::function<bool(const Node&)>& can_take_;
  state::Findings& findings_;
  std::map<NodeId, Node> changed_;
  std::map<std::pair<const BetweenCall*, std::size_t>, PortId> put_out_;
};

at::Tensor Taker::value_of(const PortId& source, std::size_t pass) const {
  const Node& node = node_at(source.node);
  return node.passes[pass].outputs[position_of(node.outputs, source.port)];
}

// Whether the first of the calls explain what every pass received.
std::string Taker::check_passes(const Gap& gap, const Node& writer) const {
  const std::vector<PortId> sources = session::sources_of(gap.route());
  for (std::size_t i = 0; i < gap.received.size(); ++i) {
    const Between& between = *gap.received[i];
    const std::string where =
        "in pass " + std::to_string(gap.first + i + 1) + " of node '" + gap.reader->name + "' ";
    if (!between.route.call) return where + kNotKept;
    if (session::sources_of(between.route) != sources) return where + "it reads other outputs";
    const int pass = between.route.call->passes.at(writer.id);
    for (const auto& [node, other] : between.route.call->passes) {
      if (other != pass) return where + "it reads outputs of different passes";
      if (node_at(node).passes.size() <= static_cast<std::size_t>(pass)) {
        return where + "it reads values of passes that were not kept";
      }
    }
    Rerun::Sources values;
    for (const PortId& source : sources) {
      values[source] = {value_of(source, static_cast<std::size_t>(pass))};
    }
    if (!gives(gap.route(), std::move(values),
               gap.reader->passes[gap.first + i].inputs[gap.input])) {
      return where + "it gives something else";
    }
  }
  return {};
}

std::string Taker::why_not(const Gap& gap, const Node& writer) const {
  if (gap.first + gap.received.size() != gap.reader->passes.size() || gap.port().source) {
    return "not every pass of node '" + gap.reader->name + "' receives it";
  }
  if (!can_take_(writer)) return "node '" + writer.name + "' has no graph of LEAPP's";
  for (const auto& [node, pass] : gap.route().call->passes) {
    if (node_at(node).passes.size() < writer.passes.size()) {
      return "node '" + node_at(node).name + "' has fewer passes than node '" + writer.name + "'";
    }
  }
  if (gap.route().call->reads_constants && gap.received.size() < 2) {
    return "one pass does not show whether the tensors that it reads besides are constants: trace "
           "another one";
  }
  return check_passes(gap, writer);
}

// Outputs of other nodes, as inputs of the node that takes the computing in.
std::map<PortId, std::string> Taker::add_inputs(const Gap& gap, Node& writer) {
  std::map<PortId, std::string> names;
  for (const PortId& source : session::sources_of(gap.route())) {
    if (source.node == writer.id) continue;
    const Node& from = node_at(source.node);
    NodePort port = from.outputs[position_of(from.outputs, source.port)];
    port.name = state::unused_name(writer, {}, source.port);
    port.is_between = port.is_static = false;
    port.source = source;
    const std::size_t at = writer.inputs.size();
    for (std::size_t i = 0; i < writer.passes.size(); ++i) {
      Pass& pass = writer.passes[i];
      const auto number = static_cast<int>(i);
      port.age.add({number, number, number + 1, gap.example().received_at});
      const auto offset = static_cast<std::ptrdiff_t>(at);
      pass.recording.inputs.insert(pass.recording.inputs.begin() + offset, {port.name});
      pass.inputs.insert(pass.inputs.begin() + offset, value_of(source, i));
    }
    names[source] = port.name;
    writer.inputs.push_back(std::move(port));
  }
  return names;
}

void Taker::append(const Gap& gap, const std::map<PortId, std::string>& inputs,
                   const std::string& name, Node& writer, std::size_t index) const {
  Pass& pass = writer.passes[index];
  // What was recorded stays as it is; a copy of it is written on by everything that is taken in.
  if (pass.recording.tape.use_count() > 1) {
    pass.recording.tape = std::make_shared<Tape>(pass.tape());
  }
  Tape& tape = *pass.recording.tape;
  const std::size_t computed = pass.recording.outputs.size();  // constants follow
  Rerun::Sources sources;
  for (const PortId& source : session::sources_of(gap.route())) {
    const at::Tensor value = value_of(source, index);
    if (const auto input = inputs.find(source); input != inputs.end()) {
      const VarId var = tape.add_input(value, writer.id);
      for (auto& port : pass.recording.inputs) {
        if (port.name == input->second) port.var = var;
      }
      sources[source] = {value, var};
    } else {
      const std::size_t at = position_of(writer.outputs, source.port);
      sources[source] = {
          value, at < computed ? pass.recording.outputs[at].var : tape.add_outside(value, true)};
    }
  }
  const Rerun::Known made = Rerun(std::move(sources), tape, writer.id).value_of(gap.route());
  pass.recording.outputs.push_back({name, made.var});
  pass.recording.end_call = tape.call_count();
  pass.outputs.insert(pass.outputs.begin() + static_cast<std::ptrdiff_t>(computed),
                      trace::copy_of(made.tensor));
}

// Puts out what the calls give; the name of the output.
std::string Taker::add_output(const Gap& gap, Node& writer) {
  NodePort port = gap.port();
  port.name = state::unused_name(writer, {}, port.name);
  port.is_between = true;
  port.age = {};
  const std::map<PortId, std::string> inputs = add_inputs(gap, writer);
  for (std::size_t i = 0; i < writer.passes.size(); ++i) {
    append(gap, inputs, port.name, writer, i);
  }
  const auto computed = static_cast<std::ptrdiff_t>(writer.passes.front().recording.outputs.size());
  std::string name = port.name;
  writer.outputs.insert(writer.outputs.begin() + computed - 1, std::move(port));
  return name;
}

void Taker::say(const Gap& gap, LogLevel level, const std::string& what) {
  const Between& example = gap.example();
  const std::size_t more = example.detours.size() - 1;
  findings_.push_back(state::finding(
      Code::kUntracedCompute, level, trace::resolve_source(example.detours.front().frame),
      gap.reader->name,
      gap.reader->name + "/" + gap.port().name + " comes from " + node_at(example.from.node).name +
          "/" + example.from.port + " through " + example.detours.front().op +
          (more > 0 ? " and " + std::to_string(more) + " more" : "") +
          ", which is in no node: " + what));
}

void Taker::take(const Gap& gap) {
  const Route& route = gap.route();
  const Node* last = nullptr;  // of those whose outputs it reads
  for (const auto& [node, pass] : route.call ? route.call->passes : std::map<NodeId, int>()) {
    const Node& from = node_at(node);
    if (last == nullptr || from.completion > last->completion) last = &from;
  }
  const std::string reason = route.call ? why_not(gap, *last) : kNotKept;
  if (!reason.empty()) {
    say(gap, LogLevel::kWarning,
        "the exported pipeline will not run it, since " + reason +
            ". Move it into a node, unless it stands for the world around them, a simulator say.");
    return;
  }
  const auto key = std::pair(route.call.get(), route.result);
  if (put_out_.count(key) == 0) {
    Node& writer = changing(last->id);
    put_out_[key] = {writer.id, add_output(gap, writer)};
  }
  const PortId& source = put_out_.at(key);
  NodePort& port = changing(gap.reader->id).inputs[gap.input];
  port.source = source;
  for (std::size_t i = 0; i < gap.received.size(); ++i) {
    const Between& between = *gap.received[i];
    port.age.add({static_cast<int>(gap.first + i), between.route.call->passes.at(source.node),
                  between.completed.at(source.node), between.received_at});
  }
  const bool doubtful = route.call->reads_constants;
  say(gap, doubtful ? LogLevel::kWarning : LogLevel::kInfo,
      "it is exported as part of node '" + node_at(source.node).name + "'" +
          (doubtful ? ", and the tensors that it reads besides as constants. Where they change, "
                      "pass them through annotate.input_tensors() of a node that does this"
                    : ""));
}

std::vector<Gap> gaps_of(const Node& reader) {
  std::vector<Gap> gaps;
  for (std::size_t input = 0; input < reader.inputs.size(); ++input) {
    Gap gap{.reader = &reader, .input = input, .first = reader.passes.size()};
    for (std::size_t i = 0; i < reader.passes.size(); ++i) {
      for (const Between& between : reader.passes[i].between) {
        if (between.input != reader.inputs[input].name) continue;
        gap.first = std::min(gap.first, i);
        gap.received.push_back(&between);
      }
    }
    if (!gap.received.empty()) gaps.push_back(std::move(gap));
  }
  return gaps;
}

}  // namespace

std::map<NodeId, Node> take_between(std::span<const Node* const> recorded,
                                    const std::function<bool(const Node&)>& can_take,
                                    state::Findings& findings) {
  const at::NoGradGuard no_grad;
  Taker taker(recorded, can_take, findings);
  for (const Node* node : recorded) {
    for (const Gap& gap : gaps_of(*node)) taker.take(gap);
  }
  return std::move(taker).finish();
}

}  // namespace leapp::compile
