#include "compile/between.h"

#include <ATen/core/grad_mode.h>

#include "base/find.h"
#include "compile/rerun.h"
#include "interop/convert.h"
#include "rehearse/model_run.h"
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
    "it reads a node input, reads outputs of several passes, writes to part of a tensor, or cannot "
    "be repeated";

bool are_same(const at::Tensor& a, const at::Tensor& b) {
  if (!trace::same_type(a, b)) return false;
  const Tolerance tolerance = exact_unless_rounded(interop::to_dtype(a.scalar_type()), kRepeated);
  return rehearse::agree(interop::on_host(a), interop::on_host(b), tolerance);
}

std::size_t position_of(const std::vector<NodePort>& ports, const std::string& name) {
  return index_in(ports, name, &NodePort::name).value();
}

// Values that a pass received through calls between nodes.
struct Received {
  std::size_t pass;
  const Between* between;
  at::Tensor value;
  trace::VarId read = trace::kNoId;  // if no input received it
};

/// One input, or undeclared read, and its values in each pass.
struct Gap {
  const Node* reader;
  NodePort port;                        // the input, or one with the properties of the read
  std::vector<Received> received = {};  // not empty

  bool is_declared() const { return received.front().read == trace::kNoId; }
  const Between& example() const { return *received.front().between; }
  const Route& route() const { return example().route; }
  std::string in_pass(std::size_t pass) const {
    return "in pass " + std::to_string(pass + 1) + " of node '" + reader->name + "' ";
  }
};

// The nodes; some already contain calls between nodes.
struct Nodes {
  std::span<const Node* const> recorded;
  std::map<NodeId, Node> changed = {};
  // Results of calls that nodes already output, with the names of the outputs.
  std::map<std::pair<const BetweenCall*, std::size_t>, std::string> put_out = {};

  const Node& at(NodeId id) const {
    const auto it = changed.find(id);
    return it != changed.end() ? it->second : *session::find_node(recorded, id);
  }
};

// The last node whose outputs the calls read.
const Node& writer_of(const Nodes& nodes, const BetweenCall& call) {
  const auto completion = [&](const auto& pass) { return nodes.at(pass.first).completion; };
  return nodes.at(std::ranges::max_element(call.passes, {}, completion)->first);
}

std::string why_not(const Nodes& nodes, const Gap& gap, const Node& writer) {
  if (gap.received.front().pass + gap.received.size() != gap.reader->passes.size() ||
      gap.port.source) {
    return "not every pass of node '" + gap.reader->name + "' receives it";
  }
  const auto made_in = static_cast<std::size_t>(gap.route().call->passes.at(writer.id));
  if (!gap.is_declared() && made_in >= gap.received.front().pass) {
    return "node '" + gap.reader->name +
           "' reads it in the same tick without declaring it as an input";
  }
  if (!writer.has_graph()) return "node '" + writer.name + "' has no exported graph";
  for (const auto& [id, pass] : gap.route().call->passes) {
    if (nodes.at(id).passes.size() < writer.passes.size()) {
      return "node '" + nodes.at(id).name + "' has fewer passes than node '" + writer.name + "'";
    }
  }
  if (gap.route().call->reads_constants && gap.received.size() < 2) {
    return "one pass does not show whether the other tensors that it reads are constants; trace "
           "another pass";
  }
  return {};
}

// Returns the first pass that received a different value than the writer's output of that name, and
// the reason.
std::string difference(const Gap& gap, const Node& writer, const std::string& output) {
  const std::size_t position = position_of(writer.outputs, output);
  for (const Received& received : gap.received) {
    const std::string where = gap.in_pass(received.pass);
    const Route& route = received.between->route;
    if (!route.call) return where + kNotKept;
    if (route.call->sources != gap.route().call->sources) return where + "it reads other outputs";
    const auto pass = static_cast<std::size_t>(route.call->passes.at(writer.id));
    for (const auto& [node, other] : route.call->passes) {
      if (static_cast<std::size_t>(other) != pass) {
        return where + "it reads outputs of different passes";
      }
    }
    if (writer.passes.size() <= pass)
      return where + "it reads values of passes that are no longer in memory";
    if (!are_same(writer.passes[pass].outputs[position], received.value)) {
      return where + "its result differs";
    }
  }
  return {};
}

// The origins of the calls, in each pass of the node that will contain them: its own outputs, or
// additional inputs for outputs of other nodes.
void add_source(const Nodes& nodes, const PortId& source, trace::FrameRef where, Node& writer,
                std::vector<Sources>& known) {
  const Node& from = nodes.at(source.node);
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
      const bool is_constant = output >= recording.outputs.size();  // these come last
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

// Adds the results of the calls as outputs. Returns the name of the output.
std::string add_output(const Nodes& nodes, const Gap& gap, Node& writer) {
  NodePort port = gap.port;
  port.name = state::unused_name(writer, {}, port.name);
  port.is_between = true;
  port.age = {};
  for (Pass& pass : writer.passes) {  // the recorded passes are not changed
    pass.recording.tape = std::make_shared<trace::Tape>(pass.tape());
  }
  std::vector<Sources> known(writer.passes.size());
  for (const PortId& source : gap.route().call->sources) {
    add_source(nodes, source, gap.example().received_at, writer, known);
  }
  const std::ptrdiff_t at = std::ssize(writer.passes.front().recording.outputs);
  for (std::size_t i = 0; i < known.size(); ++i) {
    Pass& pass = writer.passes[i];
    trace::Recording& recording = pass.recording;
    const Known made = rerun(gap.route(), known[i], *recording.tape, writer.id);
    recording.outputs.push_back({port.name, made.var});
    recording.end_call = recording.tape->call_count();
    pass.outputs.insert(pass.outputs.begin() + at, trace::copy_of(made.tensor));
  }
  return writer.outputs.insert(writer.outputs.begin() + at, std::move(port))->name;
}

// Connects the input, or the read, to that output.
void connect(const Gap& gap, const PortId& source, Node& reader) {
  for (const auto& [pass, between, value, var] : gap.received) {
    const int source_pass = between->route.call->passes.at(source.node);
    if (gap.is_declared()) {
      NodePort& port = reader.inputs[position_of(reader.inputs, gap.port.name)];
      port.source = source;
      port.age.add({static_cast<int>(pass), source_pass, between->completed.at(source.node),
                    between->received_at});
    } else {
      auto* read = find_in(reader.passes[pass].outside, var, &session::OutsideRead::var);
      read->source = source;
      read->source_pass = source_pass;
    }
  }
}

// Makes the calls part of a node. Returns why that is impossible; empty on success.
std::string take(Nodes& nodes, const Gap& gap) {
  const Route& route = gap.route();
  if (!route.call) return kNotKept;
  Node writer = writer_of(nodes, *route.call);
  if (std::string reason = why_not(nodes, gap, writer); !reason.empty()) return reason;
  const auto key = std::pair(route.call.get(), route.result);
  PortId source = {writer.id, {}};
  try {
    source.port =
        nodes.put_out.contains(key) ? nodes.put_out.at(key) : add_output(nodes, gap, writer);
  } catch (const c10::Error&) {  // the calls do not match: something else happened between them
    return gap.in_pass(gap.received.front().pass) + "its result differs";
  }
  if (std::string reason = difference(gap, writer, source.port); !reason.empty()) return reason;
  nodes.put_out[key] = source.port;
  nodes.changed[writer.id] = std::move(writer);
  connect(gap, source, nodes.changed.try_emplace(gap.reader->id, *gap.reader).first->second);
  return {};
}

// The result for the calls: `reason` says why they are in no node, if they are not.
Diagnostic finding_of(const Nodes& nodes, const Gap& gap, const std::string& reason) {
  const Between& example = gap.example();
  const PortId& from = example.route.port;
  const session::Detour& first = example.detours.front();
  const std::size_t more = example.detours.size() - 1;
  const bool doubtful = !reason.empty() || example.route.call->reads_constants;
  std::string text = gap.is_declared()
                         ? gap.reader->name + "/" + gap.port.name
                         : "an undeclared value that node '" + gap.reader->name + "' reads";
  text += " is computed from " + nodes.at(from.node).name + "/" + from.port + " (" + first.op +
          (more > 0 ? " and " + std::to_string(more) + " more" : "") + ") outside any node. ";
  if (!reason.empty()) {
    text += "The exported pipeline does not run this computation: " + reason +
            ". Move it into a node, unless it is part of the environment, such as a simulator.";
  } else {
    text += "It is exported as part of node '" + writer_of(nodes, *example.route.call).name + "'";
    text += !doubtful
                ? ""
                : ". The other tensors that it reads are exported as constants. If they change, "
                  "move the computation into a node and pass them through annotate.input_tensors()";
  }
  return state::finding(Code::kUntracedCompute, doubtful ? LogLevel::kWarning : LogLevel::kInfo,
                        trace::resolve_source(first.frame), gap.reader->name, std::move(text));
}

// By the position of the input; after those, the first undeclared read of every pass, the second
// one, and so on.
std::map<std::size_t, Gap> gaps_of(const Node& reader) {
  std::map<std::size_t, Gap> gaps;
  const auto add = [&](std::size_t position, const NodePort& port, Received received) {
    gaps.try_emplace(position, Gap{&reader, port})
        .first->second.received.push_back(std::move(received));
  };
  for (std::size_t i = 0; i < reader.passes.size(); ++i) {
    const Pass& pass = reader.passes[i];
    for (const Between& between : pass.between) {
      const std::size_t input = position_of(reader.inputs, between.input);
      add(input, reader.inputs[input], {i, &between, pass.inputs[input]});
    }
    std::size_t next = reader.inputs.size();
    for (const session::OutsideRead& read : pass.outside) {
      if (!read.between) continue;
      const at::Tensor value = pass.tape().content(read.var);
      NodePort port;
      port.name = read.between->route.port.port;
      port.dtype = interop::to_dtype(value.scalar_type());
      port.shape = value.sizes().vec();
      add(next++, port, {i, &*read.between, value, read.var});
    }
  }
  return gaps;
}

}  // namespace

std::map<NodeId, Node> take_between(std::span<const Node* const> recorded,
                                    state::Findings& findings) {
  const at::NoGradGuard no_grad;
  Nodes nodes{recorded};
  for (const Node* node : recorded) {
    for (const auto& [position, gap] : gaps_of(*node)) {
      const std::string reason = take(nodes, gap);
      if (!reason.empty() && !gap.is_declared())
        continue;  // a difference between passes, which is reported
      findings.push_back(finding_of(nodes, gap, reason));
    }
  }
  return std::move(nodes.changed);
}

}  // namespace leapp::compile
