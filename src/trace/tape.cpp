#include "trace/tape.h"

#include "trace/geometry.h"
#include "trace/op_traits.h"
#include "trace/recording.h"

namespace leapp::trace {
namespace {

const std::byte* address_of(const c10::Storage& storage) {
  return static_cast<const std::byte*>(storage.data());
}

// Memory that PyTorch did not allocate: of NumPy, a mapped file, or another library.
bool is_foreign(const c10::Storage& storage) {
  return storage.allocator() == nullptr;
}

// The number of expired results after which their memory is freed.
constexpr std::size_t kYoung = 64;

}  // namespace

Tape::Tape(CaptureTable& captures) : captures_(captures) {
  // Enough for a small node, to avoid reallocation.
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
  if (store != kNoId) stores_[static_cast<std::size_t>(store)].variables.push_back(id);
  young_.push_back(id);
  if (young_.size() == kYoung) release_expired();
  return id;
}

// A weak reference keeps the object's own memory from being reused. Most results expire within a
// few operators; the others are checked once and kept. Aliases of external memory are always kept,
// because the object that a pass read identifies its counterpart in the next pass.
void Tape::release_expired() {
  for (const VarId id : young_) {
    Variable& young = variable(id);
    if (!young.impl.expired() || young.origin != Variable::Origin::kResult) continue;
    if (calls_[static_cast<std::size_t>(young.call)].is_inferred_alias()) continue;
    const auto named = by_impl_.find(young.impl._unsafe_get_target());
    if (named != by_impl_.end() && named->second == id) by_impl_.erase(named);
    young.impl.reset();
    if (young.store == kNoId) continue;
    Store& memory = store(young.store);
    if (!memory.storage.expired()) continue;
    by_storage_.erase(memory.storage._unsafe_get_target());
    memory.storage.reset();
  }
  young_.clear();
}

StoreId Tape::new_store(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return kNoId;
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
  if (!tensor.has_storage()) return kNoId;
  const auto it = by_storage_.find(tensor.storage().unsafeGetStorageImpl());
  return it == by_storage_.end() ? kNoId : it->second;
}

StoreId Tape::find_shared_memory(const at::Tensor& tensor) {
  if (!tensor.has_storage() || !is_foreign(tensor.storage())) return kNoId;
  const std::byte* address = address_of(tensor.storage());
  if (address == nullptr) return kNoId;
  const auto holds = [&](StoreId id) {
    const auto storage = store(id).storage.lock();
    return storage && address >= store(id).address &&
           address < store(id).address + storage->nbytes();
  };
  for (; addressed_ < stores_.size(); ++addressed_) {
    const std::byte* begin = stores_[addressed_].address;
    if (begin != nullptr) by_address_.insert_or_assign(begin, static_cast<StoreId>(addressed_));
  }
  StoreId found = kNoId;
  if (const auto it = by_address_.find(address); it != by_address_.end() && holds(it->second)) {
    found = it->second;
  }
  // A slice of an array begins inside the memory; this is rare enough to check every store.
  for (StoreId id = 0; found == kNoId && id < static_cast<StoreId>(stores_.size()); ++id) {
    if (store(id).address != nullptr && holds(id)) found = id;
  }
  if (found == kNoId) return kNoId;
  store(found).shares.push_back(tensor.storage().getWeakStorageImpl());
  by_storage_.insert_or_assign(tensor.storage().unsafeGetStorageImpl(), found);
  return found;
}

std::optional<VarId> Tape::find(const at::Tensor& tensor) {
  const auto it = by_impl_.find(tensor.unsafeGetTensorImpl());
  if (it != by_impl_.end()) {
    const Variable& known = variable(it->second);
    // `tensor.data = other` and set_() replace the memory of a tensor object.
    const bool moved = known.store != kNoId && find_store(tensor) != known.store;
    if (!moved) return it->second;
  }
  StoreId memory = find_store(tensor);
  if (memory == kNoId) memory = find_shared_memory(tensor);
  if (memory == kNoId) return std::nullopt;
  return add_alias(tensor, memory);
}

Tape::Match Tape::match(const c10::TensorImpl* object, const at::Tensor& alias) {
  StoreId memory = find_store(alias);
  if (memory == kNoId) memory = find_shared_memory(alias);
  const auto it = by_impl_.find(object);
  if (it != by_impl_.end() && variable(it->second).store == memory) {
    const Variable& known = variable(it->second);
    const bool computed =
        known.origin == Variable::Origin::kResult && !written_since(it->second, 0);
    return {it->second, true, computed && version_of(alias) != known.version};
  }
  if (memory == kNoId) return {};
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

VarId Tape::add_outside(const at::Tensor& tensor, bool fresh, FrameRef made_at) {
  const StoreId memory = new_store(tensor);
  const VarId id = new_variable(tensor, Variable::Origin::kOutside, memory);
  if (memory == kNoId) {
    variable(id).held = alias_of(tensor);
    return id;
  }
  // Weights are used in every pass, and one alias is enough for all of them.
  const auto capture = captures_.capture(tensor);
  variable(id).held = same_geometry(capture->live(), tensor) ? capture->live() : alias_of(tensor);
  // Other libraries may write to their memory without notice.
  constexpr std::size_t kWorthACopy = 1 << 20;
  if (!fresh && is_foreign(tensor.storage()) && tensor.storage().nbytes() <= kWorthACopy) {
    capture->freeze();
  }
  store(memory).capture = capture;
  store(memory).fresh = fresh;
  store(memory).made_at = made_at;
  return id;
}

VarId Tape::add_input(const at::Tensor& tensor, NodeId node) {
  StoreId memory = find_store(tensor);
  if (memory == kNoId) memory = new_store(tensor);
  const VarId id = new_variable(tensor, Variable::Origin::kInput, memory);
  variable(id).node = node;
  variable(id).held = alias_of(tensor);
  // The original tensor of an annotated input counts as the input, unless another node claimed it
  // before.
  if (memory != kNoId && store(memory).node == kNoId) store(memory).node = node;
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
                        .store = kNoId,
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
  const auto capture = memory == kNoId ? nullptr : store(memory).capture;
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
    const StoreId memory = made == kNoId ? kNoId : variable(made).store;
    for_each_variable(*this, call, [&](VarId read) {
      call.undeclared_alias |= memory != kNoId && variable(read).store == memory;
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
    return item.isTensor() && item.toTensor().defined() ? var_of(item.toTensor()) : kNoId;
  };
  if (value.isTensorList() || value.isOptionalTensorList()) {
    std::vector<VarId> vars;
    for (const c10::IValue& item : value.toListRef()) vars.push_back(var(item));
    return list_of(vars);
  }
  const VarId single = var(value);
  if (single == kNoId) return {.value = value};
  return {.kind = Arg::Kind::kTensor, .var = single};
}

VarId Tape::result_variable(const at::Tensor& tensor) {
  if (!tensor.defined()) return kNoId;
  const auto it = by_impl_.find(tensor.unsafeGetTensorImpl());
  StoreId memory = find_store(tensor);
  if (it != by_impl_.end()) {
    // An operator that writes in place returns its own argument.
    if (variable(it->second).store == memory) return it->second;
  }
  if (memory == kNoId) memory = find_shared_memory(tensor);
  if (memory == kNoId) memory = new_store(tensor);
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
  if (memory == kNoId) {
    if (node != kNoId) variable(var).node = node;
    return;
  }
  Store& written = store(memory);
  written.last_write = static_cast<std::int32_t>(calls_.size()) - 1;
  if (node == kNoId) return;
  written.node = node;
  for (const VarId alias : written.variables) variable(alias).node = node;
}

}  // namespace leapp::trace
