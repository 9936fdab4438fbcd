#include "session/wiring.h"

#include <algorithm>

#include "session/between_nodes.h"
#include "session/placed_error.h"
#include "session/ports.h"
#include "trace/constant.h"

namespace leapp::session {
namespace {

// Refuses a value that another open node has computed: a bundle runs one node after the other, so
// no wire can carry it.
void refuse_open_value(SessionData& data, const SessionNode& node, const NodePort& port,
                       const at::Tensor& tensor) {
  // Skipped unless nodes are nested, because looking up a tensor adds it to the tape.
  const bool nested = std::ranges::any_of(
      data.nodes, [&](const SessionNode& other) { return other.pass.open && other.id != node.id; });
  const auto var = nested ? data.tape.variable_of(tensor) : std::nullopt;
  if (!var || data.tape->variable(*var).origin != trace::Variable::Origin::kResult) return;
  const NodeId owner = data.tape->variable(*var).node;
  if (owner == kNoId || owner == node.id || !data.nodes.at(owner).pass.open) return;
  const std::string& other = data.nodes.at(owner).name;
  refuse(Code::kMixedNodes,
         "input '" + port.name + "' of node '" + node.name + "' is a value inside node '" + other +
             "', which is still open. A bundle runs one node after the other. Close '" + other +
             "' with annotate.output_tensors() first and pass its output, or annotate only the "
             "outer one of two nested functions.");
}

// Warns of branches that depended on the tag's node: they may have decided the value that this node
// receives.
void warn_of_branches(SessionData& data, const SessionNode& node, const Tag& tag) {
  const auto [first, last] = data.branches.equal_range(tag.node);
  for (auto it = first; it != last; ++it) {
    data.messages.warn(Code::kBranch, node.name,
                       it->second.op + " turns what node '" + data.nodes.at(tag.node).name +
                           "' returned to True or False outside any node. Only the branch taken "
                           "now is exported. Use torch.where(), or choose inside a node.",
                       it->second.frame);
  }
  data.branches.erase(first, last);
}

// Returns the output that the input receives unchanged, if there is one; otherwise warns or stores
// the route.
NodeRun::Input source_of(SessionData& data, SessionNode& node, const NodePort& port,
                         const at::Tensor& tensor, trace::FrameRef frame) {
  refuse_open_value(data, node, port, tensor);
  const auto tag = data.tags.find(tensor);
  if (!tag) return {};
  warn_of_branches(data, node, *tag);
  const SessionNode& from = data.nodes.at(tag->node);
  const auto here = [&] { return node.name + "/" + port.name; };
  const NodePort* output = find_port(from.outputs, tag->port);
  if (tag->port.empty()) {
    data.messages.warn(Code::kNotAnOutput, node.name,
                       here() + " is computed from a value inside node '" + from.name +
                           "' that is not one of its outputs, so no wire connects them. Add it to "
                           "the outputs of '" +
                           from.name + "'.",
                       frame);
  } else if (tag->exact() && output->dtype != port.dtype) {
    data.messages.warn(Code::kReshapedWire, node.name,
                       here() + " holds the data of " + from.name + "/" + tag->port +
                           " in another type (" + describe(*output) + " became " + describe(port) +
                           "), so no wire connects them. Reinterpret it inside a node.",
                       frame);
  } else if (tag->exact() && output->shape == port.shape) {
    return {.source = PortId{tag->node, tag->port},
            .read = {node.completed, tag->pass, from.completed, frame}};
  } else {
    // compile_graph(), which knows all passes, decides if the route becomes part of a node.
    node.pass.record.between.push_back(
        make_between(data.nodes, port.name, *with_shape_of(tensor, tag, frame), frame));
  }
  return {};
}

}  // namespace

NodeRun::Input connect(SessionData& data, SessionNode& node, NodePort& port,
                       const at::Tensor& tensor, trace::FrameRef frame) {
  NodeRun::Input received = source_of(data, node, port, tensor, frame);
  received.number = number_of(tensor);
  const std::optional<PortId>& source = received.source;
  if (!port.source) port.source = source;
  if (source == port.source) return received;
  // The program may set a feedback input itself, for example at the start of an episode.
  const bool is_feedback = port.age.reads() == 0 || port.age.first().pass > 0;
  if (!source && is_feedback) return received;
  // The node may run several times in a tick, on its own results after the first time.
  if (source && (source->node == node.id || port.source->node == node.id)) return received;
  const auto name_of_source = [&](const std::optional<PortId>& id) {
    return id ? data.nodes.at(id->node).name + "/" + id->port : std::string("outside the graph");
  };
  refuse_new_signature(node, "input '" + port.name + "' came from " + name_of_source(port.source) +
                                 " before, and now from " + name_of_source(source) +
                                 ". A port has one source.");
}

void mirror_tags(SessionData& data, const at::Tensor& source, const at::Tensor& target) {
  if (!trace::same_value(source, target)) {
    refuse(Code::kMirrorMismatch,
           "mirror_leapp_tags(): source and target do not match. Call it only if the target "
           "contains exactly the source's values, as after a copy.");
  }
  if (const auto tag = data.tags.find(source)) data.tags.set(target, tag);
  if (data.tape.owner_of(source) != kNoId) {
    data.tape->mirror(*data.tape.variable_of(source), target);
  }
}

}  // namespace leapp::session
