// The history of memory: which pass wrote it last, and whether the program created it outside of
// nodes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/flat_hash_map.h>

#include <optional>

#include "session/record/pass.h"

namespace leapp::session {

/// Facts about memory, by its storage. Weak references keep the addresses of storages from being
/// reused.
///
/// Not thread-safe: the session's lock guards it.
class MemoryTable {
 public:
  /// Memory that the program created outside of nodes.
  struct Creation {
    std::int32_t recorded_passes = 0;  ///< number of passes of all nodes at its creation
    /// The memory that it was copied from, directly or through other copies.
    std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> copy_of = {};
  };

  /// Reserves room for a small pipeline, so that its first pass does not allocate it.
  MemoryTable();

  void set_writer(const at::Tensor& tensor, MemoryUse::Writer writer);
  /// Returns the pass that last wrote state to the tensor's memory, or nullptr.
  const MemoryUse::Writer* find_writer(const at::Tensor& tensor) const;

  /// Adds a creation. `copied` is the original of a copy, if any. After thousands of such tensors
  /// no more are added, because the facts are used only in messages.
  void add_creation(const at::Tensor& tensor, const at::Tensor& copied,
                    std::int32_t recorded_passes);
  /// Returns nullptr for memory that the program did not create outside of nodes.
  const Creation* find_creation(const at::Tensor& tensor) const;
  void clear_creations() { creations_.clear(); }

 private:
  template <typename Value>
  struct Entry {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    Value value;
  };
  template <typename Value>
  using Map = ska::flat_hash_map<const c10::StorageImpl*, Entry<Value>>;

  Map<MemoryUse::Writer> writers_;
  Map<Creation> creations_;
};

}  // namespace leapp::session
