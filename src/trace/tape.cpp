#include "trace/tape.h"

#include <algorithm>

#include "base/check.h"
#include "trace/geometry.h"
#include "trace/op_traits.h"
#include "trace/recording.h"

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

const std::byte* address_of(const c10::Storage& storage) {
  return static_cast<const std::byte*>(storage.data());
}

// Memory that PyTorch did not allocate itself: NumPy's, a file mapping, another library's.
bool is_foreign(const c10::Storage& storage) {
  return storage.allocator() == nullptr;
}

// How many results may have expired before their memory is given back.
constexpr std::size_t kYoung = 64;

}  // namespace

Tape::Tape(CaptureTable& captures) : captures_(captures) {
  // A small node's worth, so that one does not pay for growing.
  constexpr std::size_t kCalls = 16;
  calls_.reserve(kCalls);
  args_.reserve(4 * kCalls);
  results_.reserve(kCalls);
  variables_.reserve(2 * kCalls);
  stores_.reserve(2 * kCalls);
  young_.reserve(kYoung);
  by_impl_.reserve(2 * kCalls);
  by_storage_.reserve(2 * kCalls);
}

VarId Tape::new_variable(const at::Tensor& tensor, Variable::Origin origin, StoreId store) {
  const auto id = static_cast<VarId>(variables_.size());
  variables_.push_back({.origin = origin,
                        .store = store,
                        .impl = c10::weak_intrusive_ptr(tensor.getIntrusivePtr())});
  by_impl_.insert_or_assign(tensor.unsafeGetTensorImpl(), id);
  if (store != kNobody) stores_[static_cast<std::size_t>(store)].variables.push_back(id);
  young_.push_back(id);
  if (young_.size() == kYoung) release_expired();
  return id;
}

// A weak reference keeps the object's own memory from being reused. Most results expire within a
// few operators; those that do not are looked at once and stay. Aliases of memory from outside stay
// in any case: which object a pass has read tells what the next one reads in its place.
void Tape::release_expired() {
  for (const VarId id : young_) {
    Variable& young = variable(id);
    if (!young.impl.expired() || young.origin != Variable::Origin::kResult) continue;
    if (calls_[static_cast<std::size_t>(young.call)].found_in_memory) continue;
    const auto named = by_impl_.find(young.impl._unsafe_get_target());
    if (named != by_impl_.end() && named->second == id) by_impl_.erase(named);
    young.impl.reset();
    if (young.store == kNobody) continue;
    Store& memory = store(young.store);
    if (!memory.storage.expired()) continue;
    by_storage_.erase(memory.storage._unsafe_get_target());
    memory.storage.reset();
  }
  young_.clear();
}

StoreId Tape::new_store(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return kNobody;
  const c10::Storage& storage = tensor.storage();
  const auto id = static_cast<StoreId>(stores_.size());
  const std::byte* address = address_of(storage);
  const auto offset = tensor.storage_offset() * static_cast<std::int64_t>(tensor.element_size());
  stores_.push_back({.storage = storage.getWeakStorageImpl(),
                     .address = address,
                     .root = address == nullptr ? nullptr : address + offset,
                     .dtype = tensor.scalar_type()});
  by_storage_.insert_or_assign(storage.unsafeGetStorageImpl(), id);
  return id;
}

StoreId Tape::find_store(const at::Tensor& tensor) const {
  if (!tensor.has_storage()) return kNobody;
  const auto it = by_storage_.find(tensor.storage().unsafeGetStorageImpl());
  return it == by_storage_.end() ? kNobody : it->second;
}

StoreId Tape::find_shared_memory(const at::Tensor& tensor) {
  if (!tensor.has_storage() || !is_foreign(tensor.storage())) return kNobody;
  const std::byte* address = address_of(tensor.storage());
  if (address == nullptr) return kNobody;
  const auto holds = [&](StoreId id) {
    const auto storage = store(id).storage.lock();
    return storage && address >= store(id).address &&
           address < store(id).address + storage->nbytes();
  };
  for (; addressed_ < stores_.size(); ++addressed_) {
    const std::byte* begin = stores_[addressed_].address;
    if (begin != nullptr) by_address_.insert_or_assign(begin, static_cast<StoreId>(addressed_));
  }
  StoreId found = kNobody;
  if (const auto it = by_address_.find(address); it != by_address_.end() && holds(it->second)) {
    found = it->second;
  }
  // A slice of an array begins inside the memory: rare enough to look at every store.
  for (StoreId id = 0; found == kNobody && id < static_cast<StoreId>(stores_.size()); ++id) {
    if (store(id).address != nullptr && holds(id)) found = id;
  }
  if (found == kNobody) return kNobody;
  store(found).shares.push_back(tensor.storage().getWeakStorageImpl());
  by_storage_.insert_or_assign(tensor.storage().unsafeGetStorageImpl(), found);
  return found;
}

std::optional<VarId> Tape::find(const at::Tensor& tensor) {
  const auto it = by_impl_.find(tensor.unsafeGetTensorImpl());
  if (it != by_impl_.end()) {
    const Variable& known = variable(it->second);
    // `tensor.data = other` and set_() give a tensor object other memory.
    const bool moved = known.store != kNobody && find_store(tensor) != known.store;
    if (!moved) return it->second;
  }
  StoreId memory = find_store(tensor);
  if (memory == kNobody) memory = find_shared_memory(tensor);
  if (memory == kNobody) return std::nullopt;
  return add_alias(tensor, memory);
}

Tape::Match Tape::match(const c10::TensorImpl* object, const at::Tensor& alias) {
  StoreId memory = find_store(alias);
  if (memory == kNobody) memory = find_shared_memory(alias);
  const auto it = by_impl_.find(object);
  if (it != by_impl_.end() && variable(it->second).store == memory) {
    const Variable& known = variable(it->second);
    const bool computed =
        known.origin == Variable::Origin::kResult && !written_since(it->second, 0);
    return {it->second, true, computed && version_of(alias) != known.version};
  }
  if (memory == kNobody) return {};
  const auto& candidates = store(memory).variables;
  for (auto id = candidates.rbegin(); id != candidates.rend(); ++id) {
    const at::Tensor there = tensor(*id);
    if (there.defined() && same_geometry(there, alias)) return {*id, false};
  }
  return {};
}

VarId Tape::use(const at::Tensor& tensor) {
  if (const auto known = find(tensor)) return *known;
  return add_outside(tensor);
}

VarId Tape::add_outside(const at::Tensor& tensor, bool fresh) {
  const StoreId memory = new_store(tensor);
  const VarId id = new_variable(tensor, Variable::Origin::kOutside, memory);
  if (memory == kNobody) {
    variable(id).held = alias_of(tensor);
    return id;
  }
  // Weights come back in every pass, and one alias serves them all.
  const auto capture = captures_.capture(tensor);
  variable(id).held = same_geometry(capture->live(), tensor) ? capture->live() : alias_of(tensor);
  // Nobody announces what others write to memory of their own.
  constexpr std::size_t kWorthACopy = 1 << 20;
  if (!fresh && is_foreign(tensor.storage()) && tensor.storage().nbytes() <= kWorthACopy) {
    capture->freeze();
  }
  store(memory).capture = capture;
  store(memory).fresh = fresh;
  return id;
}

VarId Tape::add_input(const at::Tensor& tensor, NodeId node) {
  StoreId memory = find_store(tensor);
  if (memory == kNobody) memory = new_store(tensor);
  const VarId id = new_variable(tensor, Variable::Origin::kInput, memory);
  variable(id).node = node;
  variable(id).held = alias_of(tensor);
  // The raw handle of an annotated input means the input, unless another node claimed it before.
  if (memory != kNobody && store(memory).node == kNobody) store(memory).node = node;
  return id;
}

// The part of the memory that was met first becomes a view of one that also has the tensor.
void Tape::widen(StoreId memory, const at::Tensor& tensor) {
  const VarId part = store(memory).variables.front();
  if (variable(part).origin != Variable::Origin::kOutside || !store(memory).capture) return;
  const at::Tensor alive(variable(part).impl.lock());
  const at::Tensor whole = whole_of(tensor, alive.defined() ? alive : variable(part).held);
  // What was there before is known of the storage that was met first, not of others over its bytes.
  if (memory_of(whole) != memory_of(variable(part).held)) return;
  const VarId id = new_variable(whole, Variable::Origin::kOutside, memory);
  variable(id).held = alias_of(whole);
  variable(id).node = variable(part).node;
  auto& variables = store(memory).variables;
  std::rotate(variables.begin(), variables.end() - 1, variables.end());
  store(memory).root = begin_of(whole);
  begin_view(id, variable(part).held, begin_of(whole), kNobody);
  calls_.back().comes_first = true;
  results_.push_back({.is_tensor = true, .is_list = false, .var = part});
  variable(part).origin = Variable::Origin::kResult;
  variable(part).call = call_count() - 1;
}

// Begins the call that makes a tensor of one that begins there.
void Tape::begin_view(VarId of, const at::Tensor& tensor, const std::byte* begin, NodeId node) {
  begin_call(as_strided_op(), FrameRef{}, node);
  add_tensor(of);
  add_value(tensor.sizes().vec());
  add_value(tensor.strides().vec());
  const auto distance = tensor.numel() == 0 ? 0 : begin_of(tensor) - begin;  // else anywhere
  add_value(distance / static_cast<std::int64_t>(tensor.element_size()));
  calls_.back().relative = true;
  calls_.back().found_in_memory = true;
}

VarId Tape::add_alias(const at::Tensor& tensor, StoreId memory) {
  // A tensor object seen for the first time in memory that is known: express it by what is known.
  // The newest variable of the same geometry is the one whose node the user means.
  const auto candidates = store(memory).variables;
  VarId same = kNobody;
  VarId root = kNobody;
  for (auto it = candidates.rbegin(); it != candidates.rend(); ++it) {
    const at::Tensor known = this->tensor(*it);
    if (!known.defined() || find_store(known) != memory) continue;  // gone, or given other memory
    if (same == kNobody && same_geometry(known, tensor)) same = *it;
    if (known.scalar_type() == tensor.scalar_type()) root = *it;
  }
  if (same == kNobody && root == candidates.front() && !covers(this->tensor(root), tensor)) {
    widen(memory, tensor);
    root = store(memory).variables.front();
    if (variable(root).impl._unsafe_get_target() == tensor.unsafeGetTensorImpl()) return root;
    const bool is_read_only =
        variable(root).origin == Variable::Origin::kOutside && store(memory).last_write < 0;
    if (is_read_only && !covers(this->tensor(root), tensor)) return add_outside(tensor);
  }
  const std::byte* begin = store(memory).root;
  if (root != kNobody) {
    begin = begin_of(this->tensor(root));
  } else if (same == kNobody && store(memory).dtype == tensor.scalar_type()) {
    root = candidates.front();  // gone, but its memory lives on: `tensor.data = result`
  }
  if (same == kNobody && root == kNobody) return add_outside(tensor);

  const VarId base = same != kNobody ? same : root;
  const NodeId node = variable(base).node != kNobody ? variable(base).node : store(memory).node;
  if (same == kNobody) {
    begin_view(root, tensor, begin, node);
  } else {
    begin_call(alias_op(), FrameRef{}, node);
    add_tensor(same);
    calls_.back().found_in_memory = true;
  }
  const VarId id = new_variable(tensor, Variable::Origin::kResult, memory);
  variable(id).node = node;
  variable(id).call = call_count() - 1;
  // What it holds is asked for when it may be gone, as what autograd unpacks is.
  if (node == kNobody && store(memory).capture) variable(id).held = alias_of(tensor);
  results_.push_back({.is_tensor = true, .is_list = false, .var = id});
  return id;
}

VarId Tape::add_snapshot(const at::Tensor& tensor, NodeId node) {
  static const auto clone = c10::Dispatcher::singleton().findSchemaOrThrow("aten::clone", "");
  const VarId source = use(tensor);
  begin_call(clone, FrameRef{}, node);
  add_tensor(source);
  add_value(c10::IValue());
  const auto id = static_cast<VarId>(variables_.size());
  variables_.push_back({.origin = Variable::Origin::kResult,
                        .store = kNobody,
                        .node = node,
                        .call = call_count() - 1,
                        .impl = c10::weak_intrusive_ptr(tensor.getIntrusivePtr())});
  results_.push_back({.is_tensor = true, .is_list = false, .var = id});
  return id;
}

void Tape::mirror(VarId source, const at::Tensor& target, FrameRef frame) {
  const VarId id = use(target);
  if (id == source) return;
  static const auto copy = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  begin_call(copy, frame, variable(source).node);
  add_tensor(id);
  add_tensor(source);
  add_value(false);
  results_.push_back({.is_tensor = true, .is_list = false, .var = id});
  note_write(id, variable(source).node);
}

at::Tensor Tape::tensor(VarId id) const {
  if (variable(id).held.defined()) return variable(id).held;
  return at::Tensor(variable(id).impl.lock());
}

at::Tensor Tape::content(VarId id) const {
  const StoreId memory = variable(id).store;
  const auto capture = memory == kNobody ? nullptr : store(memory).capture;
  const at::Tensor alias = tensor(id);
  return capture && alias.defined() ? capture->content(alias) : alias;
}

void Tape::append(const c10::OperatorHandle& op, FrameRef frame, NodeId node,
                  std::span<Arg> arguments, std::span<const VarId> written,
                  std::span<const c10::IValue> results) {
  begin_call(op, frame, node);
  for (Arg& argument : arguments) add_argument(std::move(argument));
  for (const VarId var : written) note_write(var, node);
  for (const c10::IValue& result : results) add_result(result);
  if (traits_of(op).aliases) return;
  Call& call = calls_.back();
  for_each_result(*this, call, [&](VarId made) {
    const StoreId memory = made == kNobody ? kNobody : variable(made).store;
    for_each_variable(*this, call, [&](VarId read) {
      call.hidden_alias |= memory != kNobody && variable(read).store == memory;
    });
  });
}

void Tape::begin_call(const c10::OperatorHandle& op, FrameRef frame, NodeId node) {
  calls_.push_back({op, static_cast<std::int32_t>(args_.size()),
                    static_cast<std::int32_t>(results_.size()), node, frame});
}

Arg Tape::list_of(const std::vector<VarId>& vars) {
  const auto begin = static_cast<std::int32_t>(list_items_.size());
  list_items_.insert(list_items_.end(), vars.begin(), vars.end());
  return {.kind = Arg::Kind::kTensorList,
          .list_begin = begin,
          .list_size = static_cast<std::int32_t>(vars.size())};
}

Arg Tape::argument_of(const c10::IValue& value,
                      c10::function_ref<VarId(const at::Tensor&)> var_of) {
  const auto var = [&](const c10::IValue& item) {
    return item.isTensor() && item.toTensor().defined() ? var_of(item.toTensor()) : kNobody;
  };
  if (value.isTensorList() || value.isOptionalTensorList()) {
    std::vector<VarId> vars;
    for (const c10::IValue& item : value.toListRef()) vars.push_back(var(item));
    return list_of(vars);
  }
  const VarId single = var(value);
  if (single == kNobody) return {.value = value};
  return {.kind = Arg::Kind::kTensor, .var = single};
}

VarId Tape::result_variable(const at::Tensor& tensor) {
  if (!tensor.defined()) return kNobody;
  const auto it = by_impl_.find(tensor.unsafeGetTensorImpl());
  StoreId memory = find_store(tensor);
  if (it != by_impl_.end()) {
    // An operator that writes in place returns its own argument.
    if (variable(it->second).store == memory) return it->second;
  }
  if (memory == kNobody) memory = find_shared_memory(tensor);
  if (memory == kNobody) memory = new_store(tensor);
  const VarId id = new_variable(tensor, Variable::Origin::kResult, memory);
  variable(id).node = calls_.back().node;
  variable(id).call = static_cast<std::int32_t>(calls_.size()) - 1;
  variable(id).version = version_of(tensor);
  return id;
}

void Tape::add_result(const c10::IValue& value) {
  if (value.isTensor()) {
    results_.push_back(
        {.is_tensor = true, .is_list = false, .var = result_variable(value.toTensor())});
    return;
  }
  if (!value.isTensorList()) {
    results_.push_back({});
    return;
  }
  std::vector<VarId> vars;
  for (const at::Tensor& tensor : value.toTensorVector()) vars.push_back(result_variable(tensor));
  const Arg list = list_of(vars);
  results_.push_back({.is_tensor = true,
                      .is_list = true,
                      .list_begin = list.list_begin,
                      .list_size = list.list_size});
}

void Tape::note_write(VarId var, NodeId node) {
  const StoreId memory = variable(var).store;
  if (memory == kNobody) {
    if (node != kNobody) variable(var).node = node;
    return;
  }
  Store& written = store(memory);
  written.last_write = static_cast<std::int32_t>(calls_.size()) - 1;
  if (node == kNobody) return;
  written.node = node;
  for (const VarId alias : written.variables) variable(alias).node = node;
}

}  // namespace leapp::trace
