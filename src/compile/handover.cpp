#include "compile/handover.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/sub.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "state/names.h"

namespace leapp::compile {
namespace {

// One wire to one target, and which pass of the source belongs to which of the target.
struct Handover {
  const CompiledNode* to = nullptr;
  PortRef input;
  const CompiledNode* from = nullptr;
  std::string output;  // as annotated
  PortRef source;      // for the message
  int distance = 0;    // passes
  trace::FrameRef where;
  std::size_t first = 0;  // pass of the target that received something
  bool is_state = false;
};

std::vector<Handover> list_handovers(const std::vector<CompiledNode>& nodes,
                                     const Pipeline& pipeline) {
  std::vector<Handover> handovers;
  const auto add = [&](const Wire& wire, const PortRef& target, bool forward) {
    const CompiledNode* to = find_node(nodes, target.node);
    const std::string& input = to->input_name(target.port);
    const NodePort* declared = session::find_port(to->node->inputs, input);
    if (declared != nullptr && declared->source) {
      // Also where states stand between the input and its source.
      const CompiledNode* from = find_node(nodes, declared->source->node);
      const std::optional<int> distance = declared->age.distance();
      if (from == nullptr || !distance) return;
      const session::Age::Read& first = declared->age.first();
      handovers.push_back({.to = to,
                           .input = target,
                           .from = from,
                           .output = declared->source->port,
                           .source = {from->model.name, declared->source->port},
                           .distance = *distance,
                           .where = first.where,
                           .first = static_cast<std::size_t>(first.pass)});
      return;
    }
    const auto is_link = [&](const CompiledNode::StateWire& state) {
      return state.input == input && state.last_tick;
    };
    if (std::any_of(to->state_wires.begin(), to->state_wires.end(), is_link)) return;
    const CompiledNode* from = find_node(nodes, wire.source.node);
    handovers.push_back({.to = to,
                         .input = target,
                         .from = from,
                         .output = from->output_name(wire.source.port),
                         .source = wire.source,
                         .distance = forward ? 0 : 1,
                         .where = to->node->passes.back().opened_at,
                         .is_state = true});
  };
  for (const Wire& wire : pipeline.data_flow) {
    for (const PortRef& target : wire.targets) add(wire, target, true);
  }
  for (const Wire& wire : pipeline.feedback_flow) {
    for (const PortRef& target : wire.targets) add(wire, target, false);
  }
  return handovers;
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  if (a.device() == b.device() && at::equal(a, b)) return true;
  const at::Tensor x = a.to(at::kCPU).contiguous();
  const at::Tensor y = b.to(at::kCPU).contiguous();
  // NaN is equal to itself here.
  return std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

// Whether a feedback input holds once more what it held before it received anything.
bool begins_anew(const Handover& handover, std::size_t pass, const at::Tensor& traced) {
  if (handover.distance <= 0) return false;
  const std::string& name = handover.to->input_name(handover.input.port);
  const std::size_t end = std::min(std::max<std::size_t>(handover.first, 1), pass);
  for (std::size_t i = 0; i < end; ++i) {
    const at::Tensor then = handover.to->input_value(i, name);
    if (then.defined() && same(traced, then)) return true;
  }
  return false;
}

std::string size_of_difference(const at::Tensor& a, const at::Tensor& b) {
  std::ostringstream text;
  const at::ScalarType type = at::isComplexType(a.scalar_type()) ? at::kComplexDouble : at::kDouble;
  text << at::sub(a.to(at::kCPU, type), b.to(at::kCPU, type)).abs().max().item().toDouble();
  return text.str();
}

std::string describe(const Handover& handover, std::size_t pass, const at::Tensor& traced,
                     const at::Tensor& carried) {
  const Node& to = *handover.to->node;
  const Node& from = *handover.from->node;
  std::string text =
      "the pipeline will not repeat what was traced: in pass " + std::to_string(pass + 1) +
      " of node '" + to.name + "' its " + (handover.is_state ? "state '" : "input '") +
      handover.input.port + "' was not what " + to_string(handover.source) + " had put out" +
      (handover.distance == 0   ? ""
       : handover.distance == 1 ? " in the pass before"
                                : " earlier") +
      ", which the wire carries (largest difference " + size_of_difference(traced, carried) + "). ";
  if (std::abs(to.completed - from.completed) > 1) {
    return text + "Node '" + from.name + "' ran " + std::to_string(from.completed) +
           " times and '" + to.name + "' " + std::to_string(to.completed) +
           " times while tracing, and a bundle runs every node once a tick: trace them so, or run "
           "the slower one in a bundle of its own.";
  }
  text += "Something between the passes changes it: move that into a node.";
  if (handover.distance > 0) {
    text +=
        " Where the program sets it anew, as at the start of an episode, do so at run time "
        "with InferenceManager.set_input_value().";
  }
  return text;
}

}  // namespace

std::optional<Diagnostic> find_difference(const std::vector<CompiledNode>& nodes,
                                          const Pipeline& pipeline) {
  const std::vector<Handover> handovers = list_handovers(nodes, pipeline);
  std::size_t passes = 0;
  for (const CompiledNode& node : nodes) passes = std::max(passes, node.node->passes.size());
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (const Handover& each : handovers) {
      const auto at = static_cast<std::ptrdiff_t>(pass) - each.distance;
      const bool traced_both = pass >= each.first && pass < each.to->node->passes.size() &&
                               at >= 0 && at < std::ssize(each.from->node->passes);
      if (!traced_both) continue;
      const at::Tensor traced = each.to->input_value(pass, each.to->input_name(each.input.port));
      const at::Tensor carried = each.from->output_value(static_cast<std::size_t>(at), each.output);
      if (!traced.defined() || !carried.defined() || same(traced, carried)) continue;
      if (begins_anew(each, pass, traced)) continue;
      return state::warning(Code::kHandover, each.where, each.to->node->name,
                            describe(each, pass, traced, carried));
    }
  }
  return std::nullopt;
}

}  // namespace leapp::compile
