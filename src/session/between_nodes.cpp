// Session's half that follows values of nodes where they go outside of them.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "session/live.h"
#include "trace/functional.h"
#include "trace/inside.h"

namespace leapp::session {
namespace {

// A call that can run again on other values, and does the same each time. One that writes must
// write to nothing but its first argument, which is then a copy.
bool is_repeatable(const SeenCall& call) {
  const trace::OpTraits& traits = call.traits;
  // Python may be behind an operator of the user's, and the lock is held.
  if (trace::is_users(call.op) || traits.uninitialized || traits.is_random(call.stack))
    return false;
  const auto writes = std::ranges::count(traits.writes, true);
  return writes == 0 || (writes == 1 && traits.writes.front() && !traits.overwrites.front());
}

// Whether a tensor that a call indexes by says in which order, as of joints; one number may be a
// mode.
bool is_order(const at::Tensor& index) {
  return at::isIntegralType(index.scalar_type(), false) && index.numel() > 1;
}

// Lets a call work on a value with that tag. Returns whether the call can be repeated then.
bool follow(BetweenCall& call, const Tag& tag) {
  bool repeatable = tag.has_route();
  call.routes.push_back(tag.route());
  const std::map<NodeId, int> itself = {{tag.node, tag.pass}};
  for (const auto& [node, pass] : tag.call ? tag.call->passes : itself) {
    repeatable &= call.passes.emplace(node, pass).first->second == pass;
  }
  if (tag.call) {
    call.calls += tag.call->calls;
    call.reads_constants |= tag.call->reads_constants;
    call.sources.insert(tag.call->sources.begin(), tag.call->sources.end());
  } else {
    call.sources.insert({tag.node, tag.port});
  }
  return repeatable;
}

}  // namespace

TagRef Live::tag_of(const at::Tensor& tensor) const {
  const auto taken = taken_in.find(tensor.unsafeGetTensorImpl());
  return taken != taken_in.end() ? taken->second : tags.find(tensor);
}

bool Live::is_input(const at::Tensor& tensor) const {
  if (trace::memory_of(tensor) == nullptr) return false;
  const auto took = [&](const Pass& pass) {
    return std::ranges::any_of(pass.recording.inputs, [&](const trace::Recording::Port& port) {
      return pass.tape().tensor(port.var).is_alias_of(tensor);
    });
  };
  return std::ranges::any_of(nodes, [&](const LiveNode& node) {
    if (node.passes.empty() || !node.traced) return false;
    return took(node.passes.front()) || took(node.passes.back());
  });
}

// Elements of one shape may be read in another without an operator that says so; of another type,
// they mean something else.
TagRef Live::with_shape_of(const at::Tensor& tensor, const TagRef& tag,
                           trace::FrameRef frame) const {
  static const auto reshape = c10::Dispatcher::singleton().findSchemaOrThrow("aten::reshape", "");
  if (!tag->has_route() || tensor.sizes() == tag->shape) return tag;
  auto call = std::make_shared<BetweenCall>(
      BetweenCall{reshape, frame, {at::empty({0}), tensor.sizes().vec()}, {}, {}});
  follow(*call, *tag);
  auto reshaped = std::make_shared<Tag>(*tag);
  reshaped->detours.push_back({reshape.schema().name(), frame});
  reshaped->call = std::move(call);
  reshaped->result = 0;
  return reshaped;
}

Between Live::between(const std::string& input, const Tag& tag, trace::FrameRef frame) const {
  Between between{input, tag.detours, tag.route(), frame, {}};
  for (const auto& [id, pass] : tag.call ? tag.call->passes : std::map<NodeId, int>()) {
    between.completed[id] = nodes[static_cast<std::size_t>(id)].completed;
  }
  return between;
}

std::shared_ptr<const BetweenCall> Live::keep_call(const SeenCall& seen) const {
  constexpr std::size_t kMostCalls = 256;
  constexpr std::int64_t kSmall = 4096;  // the program may have let go of what is kept here
  static const at::Tensor placeholder = at::empty({0});
  if (!is_repeatable(seen)) return nullptr;
  auto call = std::make_shared<BetweenCall>(BetweenCall{seen.op, seen.frame, {}, {}, {}});
  bool complete = true;
  const bool indexes = seen.op.schema().name() == "aten::index";
  const auto keep = [&](const at::Tensor& tensor) {
    const bool is_number = !tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number();
    if (const TagRef tag = is_number ? nullptr : tag_of(tensor)) {
      complete &= follow(*call, *with_shape_of(tensor, tag, seen.frame));
      return placeholder;
    }
    call->routes.emplace_back();
    if (is_number) return tensor;
    complete &= (tensor.numel() <= kSmall || tensor.requires_grad()) && !is_input(tensor);
    // Nobody doubts a parameter, nor the order of joints.
    call->reads_constants |= !tensor.requires_grad() && !(indexes && is_order(tensor));
    return tensor;
  };
  for (const c10::IValue& argument : seen.arguments()) {
    call->arguments.push_back(trace::map_tensors(argument, keep));
  }
  if (seen.traits.mutates) complete &= !call->routes.empty() && call->routes.front().has_value();
  return complete && call->calls <= kMostCalls ? call : nullptr;
}

void Live::hand_on(const SeenCall& call, const TagRef& tag,
                   const std::shared_ptr<const BetweenCall>& kept) {
  if (!call.traits.returns_tensors) return;
  const bool inside = tag->port.empty();  // of one value as of another, whatever is done to it
  const bool moves = tag->has_route() && call.traits.only_copies;
  std::size_t index = 0;
  trace::for_each_tensor(call.results(), [&](const at::Tensor& tensor) {
    const std::size_t which = index++;
    // A view of the very same bytes keeps the tag it finds there.
    if (const TagRef there = inside ? nullptr : tags.find(tensor); there && there->exact()) return;
    const bool same_elements =
        tag->dtype == tensor.scalar_type() && element_count(tag->shape) == tensor.numel();
    if (inside || (moves && same_elements)) {
      tags.set(tensor, tag);
    } else {
      tags.detour(*tag, tensor, call.detour(), kept, which);
    }
  });
}

}  // namespace leapp::session
