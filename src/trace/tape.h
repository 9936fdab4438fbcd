// The flat log of the operators that ran, including mutation and views.
//
// A `Tape` identifies every tensor object by a `VarId` and every piece of memory by a `StoreId`. It
// recognises tensors in this order by the tensor object itself, the storage it shares (`x.data`, a
// view made earlier), the address of memory shared with NumPy. Results are referenced weakly and
// released soon after they expire, so a long tape needs no more memory than an eager run. External
// tensors are kept alive, but their elements are copied only before a write. If a part of such a
// tensor is seen first, and then another part or the whole, the tape continues as if the whole had
// been seen first.
//
// Not thread-safe: the session's lock guards it. It never calls into Python.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>
#include <c10/util/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/capture.h"
#include "trace/dynamic_dims.h"
#include "trace/source.h"

namespace leapp::trace {

using VarId = std::int32_t;
using StoreId = std::int32_t;
using NodeId = std::int32_t;
inline constexpr std::int32_t kNoId = -1;

/// One tensor object.
struct Variable {
  enum class Origin : std::uint8_t { kOutside, kInput, kResult };

  Origin origin;
  StoreId store;           ///< kNoId for tensors without storage
  NodeId node = kNoId;     ///< the open node whose inputs it depends on
  std::int32_t call = -1;  ///< result: index of the producing call
  c10::weak_intrusive_ptr<c10::TensorImpl> impl;
  at::Tensor held = {};      ///< outside or input: an alias with its sizes and strides
  DynamicDims dynamic = 0;   ///< outside or input: an alias with its sizes and strides
  bool survives = false;     ///< result: the program still held it when its pass ended
  std::int64_t version = 0;  ///< result: number of writes to it by that time
};

/// One piece of memory that variables share.
struct Store {
  c10::weak_intrusive_ptr<c10::StorageImpl> storage;
  const std::byte* address;                   ///< first byte; valid while the storage lives
  const std::byte* root;                      ///< the root's first element at that time
  at::ScalarType dtype;                       ///< of the root
  c10::SmallVector<VarId, 4> variables = {};  ///< all its variables; the first one is the root
  NodeId node = kNoId;                        ///< the open node whose data was written to it
  std::int32_t last_write = -1;               ///< index of the last call that wrote to it
  std::shared_ptr<Capture> capture =
      {};                 ///< content at its first use; null for memory created on the tape
  bool fresh = false;     ///< captured, but created while the tape ran: never state
  FrameRef made_at = {};  ///< line of the program that created it, if fresh
  /// Further storages over the same bytes, created by NumPy; held so that their addresses are not
  /// reused.
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> shares = {};
};

/// One argument of a call.
struct Arg {
  enum class Kind : std::uint8_t { kValue, kTensor, kTensorList };
  Kind kind = Kind::kValue;
  VarId var = kNoId;            ///< tensor
  std::int32_t list_begin = 0;  ///< list: range in Tape::list_items, kNoId for absent tensors
  std::int32_t list_size = 0;
  c10::IValue value = {};  ///< all other values
};

struct CallResult {
  bool is_tensor = false;
  bool is_list = false;
  VarId var = kNoId;  ///< tensor; kNoId if undefined
  std::int32_t list_begin = 0;
  std::int32_t list_size = 0;
};

struct Call {
  /// A call of the program, or an alias of known memory at its first use.
  enum class Kind : std::uint8_t {
    kProgram,
    kAlias,  ///< the same elements
    kView,   ///< others
    kPart,   ///< a view that was seen before the whole of which it is a part: it runs first
  };

  c10::OperatorHandle op;
  std::int32_t first_arg = 0;
  std::int32_t first_result = 0;
  NodeId node = kNoId;
  FrameRef frame;
  Kind kind = Kind::kProgram;
  bool undeclared_alias =
      false;              ///< a result aliases an argument, which the schema does not declare
  bool bypassed = false;  ///< a view whose reader received the original

  bool is_inferred_alias() const { return kind != Kind::kProgram; }
  /// Returns whether it is an as_strided() whose offset counts from the start of its argument.
  bool is_inferred_view() const { return kind == Kind::kView || kind == Kind::kPart; }
};

class Tape {
 public:
  /// Creates a tape. The tapes of one session share captures through the table, which must outlive
  /// this tape.
  explicit Tape(CaptureTable& captures);

  /// Returns the variable for a tensor before it is read or written. Creates one for an external
  /// tensor.
  VarId use(const at::Tensor& tensor);

  /// Returns the variable, if the tensor or its memory is known.
  std::optional<VarId> find(const at::Tensor& tensor);

  /// A tensor's variable on this tape: of the same object, which may be released, or the newest
  /// variable with its elements.
  struct Match {
    VarId var = kNoId;
    bool same_object = false;
    bool rewritten =
        false;  ///< a result without a write on this tape, but with a later one elsewhere
  };
  /// Finds the variable of an object. `alias` is a tensor with the object's elements. Does not add
  /// a variable.
  Match match(const c10::TensorImpl* object, const at::Tensor& alias);

  /// Declares `tensor` to be an input of the node, with a fresh value.
  VarId add_input(const at::Tensor& tensor, NodeId node);

  /// Adds a tensor whose content is stored by value, whatever computed it. `fresh`: it was just
  /// created (a random draw, memory that its owner fills directly), so it cannot be state.
  VarId add_outside(const at::Tensor& tensor, bool fresh = false, FrameRef made_at = {});

  /// Returns a copy of the tensor's current value, which later writes do not change.
  VarId add_snapshot(const at::Tensor& tensor, NodeId node);

  /// Records a copy of the variable to `target`, which has its value from here on.
  void mirror(VarId source, const at::Tensor& target, FrameRef frame = {});

  /// Appends a call: its arguments, which are moved from, the variables that it wrote to, and its
  /// results.
  void append(const c10::OperatorHandle& op, FrameRef frame, NodeId node, std::span<Arg> arguments,
              std::span<const VarId> written, std::span<const c10::IValue> results);

  /// Appends a call in steps: arguments first, then results.
  void begin_call(const c10::OperatorHandle& op, FrameRef frame, NodeId node);
  void add_value(const c10::IValue& value) { add_argument({.value = value}); }
  void add_tensor(VarId var) { add_argument({.kind = Arg::Kind::kTensor, .var = var}); }
  void add_tensor_list(const std::vector<VarId>& vars) { add_argument(list_of(vars)); }
  void add_argument(Arg argument) { args_.push_back(std::move(argument)); }
  /// Returns a list argument for a later call.
  Arg list_of(const std::vector<VarId>& vars);
  /// Returns an argument of any type. `var_of` returns the variable of each tensor in it; kNoId for
  /// a value, or for an absent item of a list.
  Arg argument_of(const c10::IValue& value, c10::function_ref<VarId(const at::Tensor&)> var_of);
  /// Adds a tensor, a list of tensors, or another value, of which only the position is stored.
  void add_result(const c10::IValue& value);

  /// Records that the last call wrote to the variable's memory, and propagates the node to its
  /// aliases.
  void note_write(VarId var, NodeId node);

  const std::vector<Call>& calls() const noexcept { return calls_; }
  std::vector<Call>& calls() noexcept { return calls_; }
  const Call& call(std::int32_t index) const { return calls_[static_cast<std::size_t>(index)]; }
  std::int32_t call_count() const noexcept { return static_cast<std::int32_t>(calls_.size()); }
  const Arg* args_of(const Call& call) const {
    return args_.data() + static_cast<std::size_t>(call.first_arg);
  }
  const CallResult* results_of(const Call& call) const {
    return results_.data() + static_cast<std::size_t>(call.first_result);
  }
  VarId list_item(std::int32_t i) const { return list_items_[static_cast<std::size_t>(i)]; }
  const Variable& variable(VarId id) const { return variables_[static_cast<std::size_t>(id)]; }
  Variable& variable(VarId id) { return variables_[static_cast<std::size_t>(id)]; }
  const Store& store(StoreId id) const { return stores_[static_cast<std::size_t>(id)]; }
  Store& store(StoreId id) { return stores_[static_cast<std::size_t>(id)]; }
  /// Returns whether two variables are the same tensor, or in the same memory.
  bool same_memory(VarId a, VarId b) const {
    return a == b || (variable(a).store != kNoId && variable(a).store == variable(b).store);
  }
  /// Returns whether the call `since` or a later one wrote to the variable's memory.
  bool written_since(VarId id, std::int32_t since) const {
    const StoreId memory = variable(id).store;
    return memory != kNoId && store(memory).last_write >= since;
  }
  /// Returns the variable's tensor, or an alias of it; undefined if it was released.
  at::Tensor tensor(VarId id) const;
  /// Returns its content; for external memory, the content at its first use.
  at::Tensor content(VarId id) const;
  std::size_t variable_count() const noexcept { return variables_.size(); }
  std::size_t store_count() const noexcept { return stores_.size(); }

 private:
  VarId new_variable(const at::Tensor& tensor, Variable::Origin origin, StoreId store);
  void release_expired();
  StoreId new_store(const at::Tensor& tensor);
  StoreId find_store(const at::Tensor& tensor) const;
  StoreId find_shared_memory(const at::Tensor& tensor);
  VarId add_alias(const at::Tensor& tensor, StoreId store);
  void begin_view(VarId of, const at::Tensor& tensor, const std::byte* begin, NodeId node);
  void widen(StoreId store, const at::Tensor& tensor);
  VarId result_variable(const at::Tensor& tensor);

  CaptureTable& captures_;
  std::vector<Call> calls_;
  std::vector<Arg> args_;
  std::vector<CallResult> results_;
  std::vector<VarId> list_items_;
  std::vector<Variable> variables_;
  std::vector<Store> stores_;
  std::vector<VarId> young_;  // created since the last release_expired()
  ska::flat_hash_map<const c10::TensorImpl*, VarId> by_impl_;
  ska::flat_hash_map<const c10::StorageImpl*, StoreId> by_storage_;
  ska::flat_hash_map<const void*, StoreId> by_address_;  // number of stores in addressed_
  std::size_t addressed_ = 0;  // filled when NumPy's memory is first requested
};

}  // namespace leapp::trace
