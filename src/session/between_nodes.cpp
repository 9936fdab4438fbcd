// Session's half that sees operators while no pass is recorded: where nodes' values go.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <set>

#include "interop/convert.h"
#include "session/session.h"
#include "session/session_internal.h"
#include "trace/functional.h"
#include "trace/inside.h"

namespace leapp::session {
namespace {

// Operators that only move elements, in order, to a tensor of the same shape and type.
bool only_copies(const c10::OperatorHandle& op) {
  static const std::set<std::string> names = {
      "aten::clone",       "aten::detach",      "aten::contiguous",  "aten::to",
      "aten::_to_copy",    "aten::copy_",       "aten::alias",       "aten::cpu",
      "aten::cuda",        "aten::view_as",     "aten::reshape",     "aten::lift_fresh",
      "aten::expand_as",   "aten::view",        "aten::squeeze",     "aten::flatten",
      "aten::unsqueeze",   "aten::expand",      "aten::detach_copy", "aten::type_as",
      "aten::resolve_neg", "aten::resolve_conj"};
  return names.count(op.schema().name()) > 0;
}

// A call that can run again on other values, and does the same each time. One that writes must
// write to nothing but its first argument, which is then a copy.
bool is_repeatable(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                   const torch::jit::Stack& stack) {
  // Python may be behind an operator of the user's, and the lock is held.
  if (trace::is_users(op) || traits.uninitialized || traits.is_random(stack)) return false;
  const auto writes = std::count(traits.writes.begin(), traits.writes.end(), true);
  return writes == 0 || (writes == 1 && traits.writes.front() && !traits.overwrites.front());
}

}  // namespace

// Whether a node took it in: what the world gives is no constant.
bool Session::is_input(const at::Tensor& tensor) const {
  if (trace::memory_of(tensor) == nullptr) return false;
  const auto took = [&](const Pass& pass) {
    return std::any_of(pass.recording.inputs.begin(), pass.recording.inputs.end(),
                       [&](const trace::Recording::Port& port) {
                         return pass.recording.tape->tensor(port.var).is_alias_of(tensor);
                       });
  };
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const LiveNode& node) {
    if (node.passes.empty() || !node.traced) return false;
    return took(node.passes.front()) || took(node.passes.back());
  });
}

// Elements of one shape may be read in another without an operator that says so; of another type,
// they mean something else.
Tag Session::with_shape_of(const at::Tensor& tensor, Tag tag, trace::FrameRef frame) {
  static const auto reshape = c10::Dispatcher::singleton().findSchemaOrThrow("aten::reshape", "");
  if (!tag.has_route()) return tag;
  const NodePort* output = find_port(node_at(tag.node).outputs, tag.port);
  const Shape& shape = tag.exact() ? output->shape : tag.shape;
  if (tensor.sizes() == shape) return tag;
  std::map<NodeId, int> passes = {{tag.node, tag.pass}};
  auto call = std::make_shared<BetweenCall>(
      BetweenCall{reshape, frame, {at::empty({0}), tensor.sizes().vec()}, {tag.route()}, passes});
  if (tag.call) {
    call->passes = tag.call->passes;
    call->calls += tag.call->calls;
    call->reads_constants = tag.call->reads_constants;
  }
  tag.detours.push_back({reshape.schema().name(), frame});
  tag.call = std::move(call);
  tag.result = 0;
  return tag;
}

// The call, where it and all that lead to it can be repeated.
std::shared_ptr<const BetweenCall> Session::keep_call(const trace::OpTraits& traits,
                                                      const c10::OperatorHandle& op,
                                                      const torch::jit::Stack& stack,
                                                      trace::FrameRef frame) {
  constexpr std::size_t kMostCalls = 256;
  constexpr std::int64_t kSmall = 4096;  // the program may have let go of what is kept here
  static const at::Tensor placeholder = at::empty({0});
  if (!is_repeatable(traits, op, stack)) return nullptr;
  auto call = std::make_shared<BetweenCall>(BetweenCall{op, frame, {}, {}, {}});
  bool complete = true;
  const auto keep = [&](const at::Tensor& tensor) {
    call->routes.emplace_back();
    if (!tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) return tensor;
    auto tag = tags_.find(tensor);
    if (!tag) {
      complete &= (tensor.numel() <= kSmall || tensor.requires_grad()) && !is_input(tensor);
      call->reads_constants |= !tensor.requires_grad();  // nobody doubts a parameter
      return tensor;
    }
    tag = with_shape_of(tensor, *std::move(tag), frame);
    complete &= tag->has_route();
    call->routes.back() = tag->route();
    const std::map<NodeId, int> itself = {{tag->node, tag->pass}};
    for (const auto& [node, pass] : tag->call ? tag->call->passes : itself) {
      complete &= call->passes.emplace(node, pass).first->second == pass;
    }
    if (tag->call) {
      call->calls += tag->call->calls;
      call->reads_constants |= tag->call->reads_constants;
    }
    return placeholder;
  };
  for (std::size_t i = stack.size() - traits.writes.size(); i < stack.size(); ++i) {
    call->arguments.push_back(trace::map_tensors(stack[i], keep));
  }
  if (traits.mutates) complete &= !call->routes.empty() && call->routes.front().has_value();
  return complete && call->calls <= kMostCalls ? call : nullptr;
}

void Session::run_outside_nodes(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                                torch::jit::Stack* stack) {
  std::optional<Tag> tag;
  std::shared_ptr<const BetweenCall> kept;
  trace::FrameRef frame;
  std::vector<std::pair<at::Tensor, Tag>> partly_written;
  if (traits.mutates || !tags_.empty()) {
    const Lock lock(*this);
    const std::size_t count = traits.writes.size();
    const c10::IValue* args = stack->data() + (stack->size() - count);
    for (std::size_t i = 0; i < count; ++i) {
      for_each_tensor(args[i], [&](const at::Tensor& tensor) {
        if (!tag && !traits.overwrites[i]) tag = tags_.find(tensor);
      });
    }
    if (tag) {
      frame = trace::capture_source();
      kept = keep_call(traits, op, *stack, frame);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!traits.writes[i]) continue;
      for_each_tensor(args[i], [&](const at::Tensor& tensor) {
        captures_.before_write(tensor);
        for (auto& left : tags_.forget_memory(tensor)) partly_written.push_back(std::move(left));
      });
    }
  }
  op.callBoxed(stack);
  if (traits.returns_tensors && !traits.mutates && !traits.aliases) {
    for (std::size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i) {
      for_each_tensor(stack->at(i), [&](const at::Tensor& tensor) { note_made(tensor); });
    }
  }
  if (!tag && partly_written.empty()) return;
  if (!tag) frame = trace::capture_source();
  const Lock lock(*this);
  for (const auto& [tensor, former] : partly_written) {
    tags_.detour(former, tensor, {op.schema().name(), frame}, nullptr, 0);
  }
  propagate_tags(op, traits, tag, *stack, frame, kept);
}

void Session::propagate_tags(const c10::OperatorHandle& op, const trace::OpTraits& traits,
                             const std::optional<Tag>& tag, const torch::jit::Stack& stack,
                             trace::FrameRef frame,
                             const std::shared_ptr<const BetweenCall>& call) {
  if (!tag || !traits.returns_tensors) return;
  const bool moves = only_copies(op);
  const NodePort* port = find_port(node_at(tag->node).outputs, tag->port);
  const std::size_t returns = op.schema().returns().size();
  std::size_t index = 0;
  for (std::size_t i = stack.size() - returns; i < stack.size(); ++i) {
    for_each_tensor(stack[i], [&](const at::Tensor& tensor) {
      const std::size_t result = index++;
      // A view of the very same bytes keeps the tag it finds there.
      if (const auto there = tags_.find(tensor); there && there->exact()) return;
      const bool same_elements = port != nullptr &&
                                 interop::to_scalar_type(port->dtype) == tensor.scalar_type() &&
                                 element_count(port->shape) == tensor.numel();
      if (moves && same_elements && tag->exact()) {
        tags_.copy(*tag, tensor);
      } else {
        tags_.detour(*tag, tensor, {op.schema().name(), frame}, call, result);
      }
    });
  }
}

}  // namespace leapp::session
