// The origin of tensors: which node output them, and which operators changed them since.
//
// The tag of an output belongs to its data: to the tensor object and, for a contiguous tensor, to
// its bytes. So it survives views, detach() and NumPy round trips; copies (clone, to, copy_)
// transfer it explicitly. Values that a node computed without outputting them are tagged by object
// only: there are many, and they rarely leave the node. An operator that changes the value is added
// to the tag, and messages name it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>
#include <c10/util/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/record/between.h"
#include "trace/tape.h"

namespace leapp::session {

struct Tag {
  trace::NodeId node = trace::kNoId;
  std::string port;                  ///< empty: computed inside the node, but not an output of it
  std::vector<Detour> detours = {};  ///< empty: exactly the value of the output
  int pass = 0;                      ///< pass of the node that output it, from 0
  /// The last call of its route, if all calls can be replayed.
  std::shared_ptr<const BetweenCall> call = {};
  std::size_t result = 0;             ///< index among the tensors that the call returned
  Shape shape = {};                   ///< shape of that tensor, or of the output
  at::ScalarType dtype = at::kFloat;  ///< likewise

  bool exact() const noexcept { return detours.empty() && !port.empty(); }
  bool has_route() const noexcept { return exact() || call != nullptr; }
  Route route() const { return {{node, port}, call, result}; }
};

/// Shared by all tensors with the same origin. Null: no node computed the tensor.
using TagRef = std::shared_ptr<const Tag>;

/// Not thread-safe: the session's lock guards it.
class TagTable {
 public:
  /// Reserves room for a small pipeline, so that its first pass does not allocate it.
  TagTable();

  void set(const at::Tensor& tensor, TagRef tag);
  TagRef find(const at::Tensor& tensor) const;
  bool empty() const noexcept { return by_impl_.empty() && by_region_.empty(); }

  /// Tags the result of an operator outside of nodes that read or wrote a value tagged `source`.
  /// `call` is null if the operator cannot be replayed; `index` is the index of the result in the
  /// call.
  void set_detour(const Tag& source, const at::Tensor& result, Detour detour,
                  std::shared_ptr<const BetweenCall> call, std::size_t index);

  /// Removes the tags of memory that is about to be written. Returns the tensors that keep some of
  /// their elements, as after `action[0] = 0`, with the tags that they had.
  std::vector<std::pair<at::Tensor, TagRef>> forget_memory(const at::Tensor& tensor);

  /// Records that an open pass that is not recorded received a tagged tensor: until leave(),
  /// `handle` is a value of that node. The caller keeps the handle alive.
  void enter(const at::Tensor& handle, TagRef inside);
  void leave(const at::Tensor& handle);
  /// Returns the tag of a tensor like find(), including inputs of open passes.
  TagRef find_inside(const at::Tensor& tensor) const;

 private:
  struct Entry {
    TagRef tag;
    c10::weak_intrusive_ptr<c10::TensorImpl> impl;  // prevents the reuse of both addresses
    std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> storage;
    std::int64_t version;
    c10::DimVector sizes;

    bool is_gone() const { return storage ? storage->expired() : impl.expired(); }
    bool holds_for(const at::Tensor& tensor) const;
  };
  using EntryRef = std::shared_ptr<const Entry>;
  struct Region {
    std::uintptr_t begin;
    std::uintptr_t end;
    auto operator<=>(const Region&) const = default;
  };

  /// Returns the bytes from the tensor's first element to its last, including gaps.
  static Region extent_of(const at::Tensor& tensor);
  /// Returns the same for a tensor without gaps, nothing for others.
  static std::optional<Region> region_of(const at::Tensor& tensor);
  void sweep();

  ska::flat_hash_map<const c10::TensorImpl*, EntryRef> by_impl_;
  std::map<Region, EntryRef> by_region_;
  ska::flat_hash_map<const c10::TensorImpl*, TagRef> entered_;
  std::size_t longest_region_ = 0;
  std::size_t next_sweep_ = 1024;
};

}  // namespace leapp::session
