// Session's half that finds out where an input comes from.
#include <ATen/ops/equal.h>

#include <algorithm>

#include "session/live.h"

namespace leapp::session {
namespace {

// A value that another node has computed and not put out yet: the bundle runs one node after the
// other, so nothing could hand it over.
void refuse_open_value(Live& live, const LiveNode& node, const NodePort& port,
                       const at::Tensor& tensor) {
  // Asked only where it matters: looking for a tensor makes it known to the tape.
  const bool nested = std::ranges::any_of(
      live.nodes, [&](const LiveNode& other) { return other.pass.open && other.id != node.id; });
  const auto var = nested ? live.variable_of(tensor) : std::nullopt;
  if (!var || live.tape->variable(*var).origin != trace::Variable::Origin::kResult) return;
  const NodeId owner = live.tape->variable(*var).node;
  if (owner == kNoId || owner == node.id || !live.at(owner).pass.open) return;
  const std::string& other = live.at(owner).name;
  refuse(Code::kMixedNodes,
         "input '" + port.name + "' of node '" + node.name + "' is a value inside node '" + other +
             "', which is still open: a bundle runs one node after the other. Close '" + other +
             "' with annotate.output_tensors() first and pass its output on, or let the outer one "
             "of two nested functions alone be a node.");
}

// What the node gets may be what a branch left of it.
void warn_of_branches(Live& live, const LiveNode& node, const Tag& tag) {
  const auto [first, last] = live.branches.equal_range(tag.node);
  for (auto it = first; it != last; ++it) {
    live.warn(Code::kBranch, node.name,
              it->second.op + " turns what node '" + live.at(tag.node).name +
                  "' put out into True or False outside of nodes: the branch taken now is the only "
                  "one that is exported. Choose with torch.where(), or inside a node.",
              it->second.frame);
  }
  live.branches.erase(first, last);
}

// The output that an input receives, if it does so exactly; else why not is said.
std::optional<PortId> source_of(Live& live, LiveNode& node, NodePort& port,
                                const at::Tensor& tensor, trace::FrameRef frame) {
  refuse_open_value(live, node, port, tensor);
  const auto tag = live.tags.find(tensor);
  if (!tag) return std::nullopt;
  warn_of_branches(live, node, *tag);
  const LiveNode& from = live.at(tag->node);
  const auto here = [&] { return node.name + "/" + port.name; };
  const NodePort* output = find_port(from.outputs, tag->port);
  if (tag->port.empty()) {
    live.warn(
        Code::kNotAnOutput, node.name,
        here() + " comes from a value computed inside node '" + from.name +
            "' that is none of its outputs, so nothing connects them. Add it to the outputs of '" +
            from.name + "'.",
        frame);
  } else if (tag->exact() && output->dtype != port.dtype) {
    live.warn(Code::kReshapedWire, node.name,
              here() + " holds the data of " + from.name + "/" + tag->port + " in another type (" +
                  describe(*output) + " became " + describe(port) +
                  "), so nothing connects them. Reinterpret it inside a node.",
              frame);
  } else if (tag->exact() && output->shape == port.shape) {
    port.read = Age::Read{node.completed, tag->pass, from.completed, frame};
    return PortId{tag->node, tag->port};
  } else {
    // Whether it becomes part of a node shows when all passes are known.
    node.pass.made.between.push_back(
        live.between(port.name, *live.with_shape_of(tensor, tag, frame), frame));
  }
  return std::nullopt;
}

}  // namespace

void Live::connect(LiveNode& node, NodePort& port, const at::Tensor& tensor,
                   trace::FrameRef frame) {
  port.read.reset();
  const std::optional<PortId> source = source_of(*this, node, port, tensor, frame);
  if (!port.source) port.source = source;
  if (source == port.source) return;
  // A feedback input may be set by hand again, as at the start of an episode.
  const bool is_feedback = port.age.reads() == 0 || port.age.first().pass > 0;
  if (!source && is_feedback) return;
  const auto name_of_source = [&](const std::optional<PortId>& id) {
    return id ? at(id->node).name + "/" + id->port : std::string("outside the graph");
  };
  refuse_new_signature(node, "input '" + port.name + "' came from " + name_of_source(port.source) +
                                 " before and now comes from " + name_of_source(source) +
                                 ". A port has one source.");
}

}  // namespace leapp::session

void leapp::annotate::mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target,
                                        std::source_location where) {
  if (!session::is_traced_here(where, [](session::Shadowing&) {})) return;
  session::locked(trace::capture_source(), [&](session::Live& live) {
    const bool same = source.sizes() == target.sizes() &&
                      source.scalar_type() == target.scalar_type() && at::equal(source, target);
    if (!same) {
      session::refuse(Code::kMirrorMismatch,
                      "mirror_leapp_tags(): source and target do not match. It is for a target "
                      "that holds exactly the source's values after a copy.");
    }
    if (const auto tag = live.tags.find(source)) live.tags.set(target, tag);
    if (live.owner_of(source) != trace::kNoId) {
      live.tape->mirror(*live.variable_of(source), target);
    }
  });
}
