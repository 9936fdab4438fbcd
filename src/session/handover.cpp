#include "session/handover.h"

#include <ATen/ops/equal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "session/replay.h"

namespace leapp::session {
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

const CompiledNode* find(const std::vector<CompiledNode>& nodes, const std::string& name) {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [&](const CompiledNode& node) { return node.model.name == name; });
  return it == nodes.end() ? nullptr : &*it;
}

std::string annotated(const std::vector<Port>& ports, const std::vector<std::string>& names,
                      const std::string& port) {
  const auto it =
      std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == port; });
  return it == ports.end() ? port : names[static_cast<std::size_t>(it - ports.begin())];
}

std::vector<Handover> list_handovers(const std::vector<CompiledNode>& nodes,
                                     const Pipeline& pipeline) {
  std::vector<Handover> handovers;
  const auto add = [&](const Wire& wire, const PortRef& target, bool forward) {
    const CompiledNode* to = find(nodes, target.node);
    const CompiledNode* from = find(nodes, wire.source.node);
    const std::string input = annotated(to->model.inputs, to->input_names, target.port);
    const auto declared =
        std::find_if(to->node->inputs.begin(), to->node->inputs.end(),
                     [&](const NodePort& port) { return port.name == input && port.source; });
    if (declared != to->node->inputs.end()) {
      // Also where states stand between the input and its source.
      from = find_node(nodes, declared->source->node);
      const std::optional<int> distance = declared->age.distance();
      if (from == nullptr || !distance) return;
      handovers.push_back({to,
                           target,
                           from,
                           declared->source->port,
                           {from->model.name, declared->source->port},
                           *distance,
                           declared->age.first().where,
                           static_cast<std::size_t>(declared->age.first().pass)});
      return;
    }
    const auto is_link = [&](const CompiledNode::StateWire& state) {
      return state.input == input && state.last_tick;
    };
    if (std::any_of(to->state_wires.begin(), to->state_wires.end(), is_link)) return;
    handovers.push_back({to, target, from,
                         annotated(from->model.outputs, from->output_names, wire.source.port),
                         wire.source, forward ? 0 : 1, to->node->opened_at, 0, true});
  };
  for (const Wire& wire : pipeline.data_flow) {
    for (const PortRef& target : wire.targets) add(wire, target, true);
  }
  for (const Wire& wire : pipeline.feedback_flow) {
    for (const PortRef& target : wire.targets) add(wire, target, false);
  }
  return handovers;
}

at::Tensor output_of(const CompiledNode& node, const Sample& sample, const std::string& name) {
  const std::vector<NodePort>& ports = node.node->outputs;
  for (std::size_t i = 0; i < ports.size() && i < sample.outputs.size(); ++i) {
    if (ports[i].name == name) return sample.outputs[i];
  }
  const auto state = sample.states_after.find(name);
  return state == sample.states_after.end() ? at::Tensor() : state->second;
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
  const std::vector<Sample>& samples = handover.to->node->samples;
  const std::size_t end = std::min(std::max<std::size_t>(handover.first, 1), pass);
  return std::any_of(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Sample& sample) {
                       const at::Tensor then =
                           sample_input(*handover.to, sample, handover.input.port);
                       return then.defined() && same(traced, then);
                     });
}

std::string size_of_difference(const at::Tensor& a, const at::Tensor& b) {
  std::ostringstream text;
  const at::ScalarType type = at::isComplexType(a.scalar_type()) ? at::kComplexDouble : at::kDouble;
  text << (a.to(at::kCPU, type) - b.to(at::kCPU, type)).abs().max().item<double>();
  return text.str();
}

std::string describe(const Handover& handover, std::size_t pass, const at::Tensor& traced,
                     const at::Tensor& carried) {
  const Node& to = *handover.to->node;
  const Node& from = *handover.from->node;
  std::string text = trace::line_prefix(handover.where);
  text += "the pipeline will not repeat what was traced: in pass " + std::to_string(pass + 1) +
          " of node '" + to.name + "' its " + (handover.is_state ? "state '" : "input '") +
          handover.input.port + "' was not what " + to_string(handover.source) + " had put out" +
          (handover.distance == 0   ? ""
           : handover.distance == 1 ? " in the pass before"
                                    : " earlier") +
          ", which the wire carries (largest difference " + size_of_difference(traced, carried) +
          "). ";
  if (std::abs(to.passes - from.passes) > 1) {
    return text + "Node '" + from.name + "' ran " + std::to_string(from.passes) + " times and '" +
           to.name + "' " + std::to_string(to.passes) +
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

std::string describe_difference(const std::vector<CompiledNode>& nodes, const Pipeline& pipeline) {
  const std::vector<Handover> handovers = list_handovers(nodes, pipeline);
  std::size_t passes = 0;
  for (const CompiledNode& node : nodes) passes = std::max(passes, node.node->samples.size());
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (const Handover& handover : handovers) {
      const std::vector<Sample>& reads = handover.to->node->samples;
      const std::vector<Sample>& writes = handover.from->node->samples;
      const auto at = static_cast<std::ptrdiff_t>(pass) - handover.distance;
      if (pass < handover.first || pass >= reads.size() || at < 0 || at >= std::ssize(writes))
        continue;
      const at::Tensor traced = sample_input(*handover.to, reads[pass], handover.input.port);
      const at::Tensor carried =
          output_of(*handover.from, writes[static_cast<std::size_t>(at)], handover.output);
      if (!traced.defined() || !carried.defined() || same(traced, carried)) continue;
      if (begins_anew(handover, pass, traced)) continue;
      return describe(handover, pass, traced, carried);
    }
  }
  return {};
}

}  // namespace leapp::session
