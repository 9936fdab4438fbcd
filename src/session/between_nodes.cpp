#include "session/between_nodes.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "trace/functional.h"
#include "trace/inside.h"

namespace leapp::session {
namespace {

// Returns whether the call can run again on other values with the same effect each time. A call
// that writes may only write to its first argument, which is a copy when it runs again.
bool is_replayable(const SeenCall& call) {
  const trace::OpTraits& traits = call.traits;
  // A custom operator may be implemented in Python, which must not run while the lock is held.
  if (!trace::is_aten(call.op) || traits.uninitialized || traits.is_random(call.stack))
    return false;
  const auto writes = std::ranges::count(traits.writes, true);
  return writes == 0 || (writes == 1 && traits.writes.front() && !traits.overwrites.front());
}

// Returns whether an index tensor reorders elements, for example joints. A single number may be a
// mode instead.
bool is_order(const at::Tensor& index) {
  return at::isIntegralType(index.scalar_type(), false) && index.numel() > 1;
}

// Adds a value with that tag to the call's operands. Returns whether the call can still be
// replayed.
bool add_operand(BetweenCall& call, const Tag& tag) {
  bool replayable = tag.has_route();
  call.routes.push_back(tag.route());
  const std::map<NodeId, int> itself = {{tag.node, tag.pass}};
  for (const auto& [node, pass] : tag.call ? tag.call->passes : itself) {
    replayable &= call.passes.emplace(node, pass).first->second == pass;
  }
  if (tag.call) {
    call.calls += tag.call->calls;
    call.reads_constants |= tag.call->reads_constants;
    call.sources.insert(tag.call->sources.begin(), tag.call->sources.end());
  } else {
    call.sources.insert({tag.node, tag.port});
  }
  return replayable;
}

}  // namespace

// Only the shape may change without an operator: elements that are read as another type are
// different values.
TagRef with_shape_of(const at::Tensor& tensor, const TagRef& tag, trace::FrameRef frame) {
  static const auto reshape = c10::Dispatcher::singleton().findSchemaOrThrow("aten::reshape", "");
  if (!tag->has_route() || tensor.sizes() == tag->shape) return tag;
  auto call = std::make_shared<BetweenCall>(
      BetweenCall{reshape, frame, {at::empty({0}), tensor.sizes().vec()}, {}, {}});
  add_operand(*call, *tag);
  auto reshaped = std::make_shared<Tag>(*tag);
  reshaped->detours.push_back({reshape.schema().name(), frame});
  reshaped->call = std::move(call);
  reshaped->result = 0;
  return reshaped;
}

Between make_between(const NodeTable& nodes, const std::string& input, const Tag& tag,
                     trace::FrameRef frame) {
  Between between{input, tag.detours, tag.route(), frame, {}};
  for (const auto& [id, pass] : tag.call ? tag.call->passes : std::map<NodeId, int>()) {
    between.completed[id] = nodes.at(id).completed;
  }
  return between;
}

std::shared_ptr<const BetweenCall> copy_if_replayable(const SessionData& data,
                                                      const SeenCall& seen) {
  constexpr std::size_t kMostCalls = 256;
  constexpr std::int64_t kSmall = 4096;  // a copy keeps tensors alive that the program released
  static const at::Tensor placeholder = at::empty({0});
  if (!is_replayable(seen)) return nullptr;
  auto call = std::make_shared<BetweenCall>(BetweenCall{seen.op, seen.frame, {}, {}, {}});
  bool complete = true;
  const bool indexes = seen.op.schema().name() == "aten::index";
  const auto keep = [&](const at::Tensor& tensor) {
    const bool is_number = !tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number();
    if (const TagRef tag = is_number ? nullptr : data.tags.find_inside(tensor)) {
      complete &= add_operand(*call, *with_shape_of(tensor, tag, seen.frame));
      return placeholder;
    }
    call->routes.emplace_back();
    if (is_number) return tensor;
    complete &=
        (tensor.numel() <= kSmall || tensor.requires_grad()) && !data.nodes.is_input(tensor);
    // Parameters and the order of joints are meant to be constants.
    call->reads_constants |= !tensor.requires_grad() && !(indexes && is_order(tensor));
    return tensor;
  };
  for (const c10::IValue& argument : seen.arguments()) {
    call->arguments.push_back(trace::map_tensors(argument, keep));
  }
  if (seen.traits.mutates) complete &= !call->routes.empty() && call->routes.front().has_value();
  return complete && call->calls <= kMostCalls ? call : nullptr;
}

void propagate_tag(TagTable& tags, const SeenCall& call, const TagRef& tag,
                   const std::shared_ptr<const BetweenCall>& copy) {
  if (!call.traits.returns_tensors) return;
  const bool inside = tag->port.empty();  // the tag names the node only: operators do not change it
  const bool moves = tag->has_route() && call.traits.only_copies;
  std::size_t index = 0;
  trace::for_each_tensor(call.results(), [&](const at::Tensor& tensor) {
    const std::size_t which = index++;
    // A view of the same bytes already has its tag.
    if (const TagRef there = inside ? nullptr : tags.find(tensor); there && there->exact()) return;
    const bool same_elements =
        tag->dtype == tensor.scalar_type() && element_count(tag->shape) == tensor.numel();
    if (inside || (moves && same_elements)) {
      tags.set(tensor, tag);
    } else {
      tags.set_detour(*tag, tensor, call.detour(), copy, which);
    }
  });
}

}  // namespace leapp::session
