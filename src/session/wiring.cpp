// Session's half that finds out where an input comes from.
#include <ATen/ops/equal.h>

#include <algorithm>

#include "session/session.h"
#include "session/session_internal.h"

namespace leapp::session {
// A value that another node has computed and not put out yet: the bundle runs one node after the
// other, so nothing could hand it over.
void Session::refuse_open_value(const LiveNode& node, const NodePort& port,
                                const at::Tensor& tensor, trace::FrameRef frame) {
  // Asked only where it matters: looking for a tensor makes it known to the tape.
  const bool nested = std::any_of(nodes_.begin(), nodes_.end(), [&](const LiveNode& other) {
    return other.pass.open && other.id != node.id;
  });
  const auto var = nested && tape_ ? tape_->find(tensor) : std::nullopt;
  if (!var || tape_->variable(*var).origin != trace::Variable::Origin::kResult) return;
  const NodeId owner = tape_->variable(*var).node;
  if (owner == kNobody || owner == node.id || !node_at(owner).pass.open) return;
  const std::string& other = node_at(owner).name;
  throw PlacedError{
      Code::kMixedNodes,
      "input '" + port.name + "' of node '" + node.name + "' is a value inside node '" + other +
          "', which is still open: a bundle runs one node after the other. Close '" + other +
          "' with annotate.output_tensors() first and pass its output on, or let the "
          "outer one of two nested functions alone be a node.",
      frame};
}

// The output that an input receives, if it does so exactly; else why not is said.
std::optional<PortId> Session::source_of(LiveNode& node, NodePort& port, const at::Tensor& tensor,
                                         trace::FrameRef frame) {
  refuse_open_value(node, port, tensor, frame);
  const auto tag = tags_.find(tensor);
  if (!tag) return std::nullopt;
  const LiveNode& from = node_at(tag->node);
  const std::string here = node.name + "/" + port.name;
  const std::string there = from.name + "/" + tag->port;
  const NodePort* output = find_port(from.outputs, tag->port);
  const bool fits = output != nullptr && output->dtype == port.dtype && output->shape == port.shape;
  if (tag->exact() && fits) {
    port.read = Age::Read{node.completed, tag->pass, from.completed, frame};
    return PortId{tag->node, tag->port};
  }
  if (tag->port.empty()) {
    warn(Code::kNotAnOutput, node.name,
         here + " comes from a value computed inside node '" + from.name +
             "' that is none of its outputs, so nothing connects them. Add it to the outputs of '" +
             from.name + "'.",
         frame);
  } else if (tag->exact() && output->dtype != port.dtype) {
    warn(Code::kReshapedWire, node.name,
         here + " holds the data of " + there + " in another type (" + describe(*output) +
             " became " + describe(port) +
             "), so nothing connects them. Reinterpret it inside a node.",
         frame);
  } else {
    keep_route(node, port, with_shape_of(tensor, *tag, frame), frame);
  }
  return std::nullopt;
}

void Session::connect(LiveNode& node, NodePort& port, const at::Tensor& tensor,
                      trace::FrameRef frame) {
  port.read.reset();
  const std::optional<PortId> source = source_of(node, port, tensor, frame);
  if (node.completed == 0) {
    port.source = source;
    port.source_pass = source ? 0 : -1;
    return;
  }
  if (source == port.source) return;
  if (source && !port.source && port.source_pass < 0) {
    port.source = source;
    port.source_pass = node.completed;
    return;
  }
  // A feedback input may be set by hand again, as at the start of an episode.
  if (!source && port.source_pass > 0) return;
  const auto name_of_source = [&](const std::optional<PortId>& id) {
    return id ? node_at(id->node).name + "/" + id->port : std::string("outside the graph");
  };
  throw PlacedError{Code::kNewSignature,
                    "Reentering " + node.name + " with new i/o: input '" + port.name +
                        "' came from " + name_of_source(port.source) +
                        " before and now comes from " + name_of_source(source) +
                        ". A port has one source.",
                    frame};
}

// Whether it becomes part of a node shows when all passes are known.
void Session::keep_route(LiveNode& node, const NodePort& port, const Tag& tag,
                         trace::FrameRef frame) {
  Between between{port.name, {tag.node, tag.port}, tag.detours, tag.route(), frame, {}};
  for (const auto& [id, pass] : tag.call ? tag.call->passes : std::map<NodeId, int>()) {
    between.completed[id] = node_at(id).completed;
  }
  node.pass.between.push_back(std::move(between));
}

void Session::mirror_tags(const at::Tensor& source, const at::Tensor& target) {
  if (!active()) return;
  locked(trace::capture_source(), [&] {
    const bool same = source.sizes() == target.sizes() &&
                      source.scalar_type() == target.scalar_type() && at::equal(source, target);
    if (!same) {
      throw PlacedError{Code::kMirrorMismatch,
                        "mirror_leapp_tags(): source and target do not match. It is for a target "
                        "that holds exactly the source's values after a copy."};
    }
    if (const auto tag = tags_.find(source)) tags_.set(target, *tag);
    if (!tape_) return;
    const auto from = tape_->find(source);
    if (from && tape_->variable(*from).node != kNobody) tape_->mirror(*from, target);
  });
}

}  // namespace leapp::session
