// The part of the tape that identifies a tensor in known memory.
#include <algorithm>

#include "trace/geometry.h"
#include "trace/tape.h"

namespace leapp::trace {
namespace {

const c10::OperatorHandle& alias_op() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::alias", "");
  return op;
}

const c10::OperatorHandle& as_strided_op() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::as_strided", "");
  return op;
}

}  // namespace

// The part of the memory that was seen first becomes a view of a tensor that contains both.
void Tape::widen(StoreId memory, const at::Tensor& tensor) {
  const VarId part = store(memory).variables.front();
  if (variable(part).origin != Variable::Origin::kOutside || !store(memory).capture) return;
  const at::Tensor alive(variable(part).impl.lock());
  const at::Tensor whole = whole_of(tensor, alive.defined() ? alive : variable(part).held);
  // The original content is known for the storage seen first, not for others over the same bytes.
  if (memory_of(whole) != memory_of(variable(part).held)) return;
  const VarId id = new_variable(whole, Variable::Origin::kOutside, memory);
  variable(id).held = alias_of(whole);
  variable(id).node = variable(part).node;
  auto& variables = store(memory).variables;
  std::rotate(variables.begin(), variables.end() - 1, variables.end());
  store(memory).root = begin_of(whole);
  begin_view(id, variable(part).held, begin_of(whole), kNoId);
  calls_.back().kind = Call::Kind::kPart;
  results_.push_back({.is_tensor = true, .is_list = false, .var = part});
  variable(part).origin = Variable::Origin::kResult;
  variable(part).call = call_count() - 1;
}

// Begins the call that derives a tensor from one that begins at the same address.
void Tape::begin_view(VarId of, const at::Tensor& tensor, const std::byte* begin, NodeId node) {
  begin_call(as_strided_op(), FrameRef{}, node);
  add_tensor(of);
  add_value(tensor.sizes().vec());
  add_value(tensor.strides().vec());
  const auto distance =
      tensor.numel() == 0 ? 0 : begin_of(tensor) - begin;  // otherwise from any tensor
  add_value(distance / static_cast<std::int64_t>(tensor.element_size()));
  calls_.back().kind = Call::Kind::kView;
}

VarId Tape::add_alias(const at::Tensor& tensor, StoreId memory) {
  // A new tensor object in known memory is expressed by known tensors. The newest variable with the
  // same geometry determines its node.
  const auto candidates = store(memory).variables;
  VarId same = kNoId;
  VarId root = kNoId;
  for (auto it = candidates.rbegin(); it != candidates.rend(); ++it) {
    const at::Tensor known = this->tensor(*it);
    if (!known.defined() || find_store(known) != memory)
      continue;  // released, or with other memory
    if (same == kNoId && same_geometry(known, tensor)) same = *it;
    if (known.scalar_type() == tensor.scalar_type()) root = *it;
  }
  if (same == kNoId && root == candidates.front() && !covers(this->tensor(root), tensor)) {
    widen(memory, tensor);
    root = store(memory).variables.front();
    if (variable(root).impl._unsafe_get_target() == tensor.unsafeGetTensorImpl()) return root;
    const bool is_read_only =
        variable(root).origin == Variable::Origin::kOutside && store(memory).last_write < 0;
    if (is_read_only && !covers(this->tensor(root), tensor)) return add_outside(tensor);
  }
  const std::byte* begin = store(memory).root;
  if (root != kNoId) {
    begin = begin_of(this->tensor(root));
  } else if (same == kNoId && store(memory).dtype == tensor.scalar_type()) {
    root = candidates.front();  // released, but its memory is still in use: `tensor.data = result`
  }
  if (same == kNoId && root == kNoId) return add_outside(tensor);

  const VarId base = same != kNoId ? same : root;
  const NodeId node = variable(base).node != kNoId ? variable(base).node : store(memory).node;
  if (same == kNoId) {
    begin_view(root, tensor, begin, node);
  } else {
    begin_call(alias_op(), FrameRef{}, node);
    add_tensor(same);
    calls_.back().kind = Call::Kind::kAlias;
  }
  const VarId id = new_variable(tensor, Variable::Origin::kResult, memory);
  variable(id).node = node;
  variable(id).call = call_count() - 1;
  // Its content may be needed after the tensor is released, as with tensors that autograd unpacks.
  if (node == kNoId && store(memory).capture) variable(id).held = alias_of(tensor);
  results_.push_back({.is_tensor = true, .is_list = false, .var = id});
  return id;
}

}  // namespace leapp::trace
