// Session's half that sees operators while no pass is recorded: where nodes' values go.
#include <ATen/core/dispatch/Dispatcher.h>

#include <set>

#include "interop/convert.h"
#include "session/session.h"
#include "session/session_internal.h"

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

}  // namespace

void Session::run_outside_nodes(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                                torch::jit::Stack* stack) {
  std::optional<Tag> tag;
  std::vector<std::pair<at::Tensor, Tag>> partly_written;
  if (traits.mutates || !tags_.empty()) {
    const Lock lock(*this);
    const std::size_t count = traits.writes.size();
    const c10::IValue* args = stack->data() + (stack->size() - count);
    for (std::size_t i = 0; i < count; ++i) {
      for_each_tensor(args[i], [&](const at::Tensor& tensor) {
        if (!tag && !traits.overwrites[i]) tag = tags_.find(tensor);
        if (!traits.writes[i]) return;
        captures_.before_write(tensor);
        for (auto& kept : tags_.forget_memory(tensor)) partly_written.push_back(std::move(kept));
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
  const trace::FrameRef frame = trace::capture_source();
  const Lock lock(*this);
  for (const auto& [tensor, former] : partly_written) {
    tags_.propagate(former, tensor, false, {op.schema().name(), frame});
  }
  propagate_tags(op, traits, tag, *stack, frame);
}

void Session::propagate_tags(const c10::OperatorHandle& op, const trace::OpTraits& traits,
                             const std::optional<Tag>& tag, const torch::jit::Stack& stack,
                             trace::FrameRef frame) {
  if (!tag || !traits.returns_tensors) return;
  const bool moves = only_copies(op);
  const NodePort* port = find_port(node_at(tag->node).outputs, tag->port);
  const std::size_t returns = op.schema().returns().size();
  for (std::size_t i = stack.size() - returns; i < stack.size(); ++i) {
    for_each_tensor(stack[i], [&](const at::Tensor& tensor) {
      // A view of the very same bytes keeps the tag it finds there.
      if (const auto there = tags_.find(tensor); there && there->exact()) return;
      const bool same_type =
          port != nullptr && interop::to_scalar_type(port->dtype) == tensor.scalar_type();
      tags_.propagate(*tag, tensor, moves && same_type, {op.schema().name(), frame});
    });
  }
}

}  // namespace leapp::session
