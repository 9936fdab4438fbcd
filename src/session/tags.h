// Where a tensor came from: which node put it out, and what happened to it since.
//
// The tag of an output belongs to the data, not to a tensor object: to the object itself, and, for
// a contiguous tensor, to the bytes it covers. So it survives views, detach() and NumPy round trips
// without a rule for any of them; copies (clone, to, copy_) carry it over explicitly. What a node
// only computed is known by the object: there is much of it, and it seldom leaves the node. An
// operator that changes the value leaves a tag that remembers the detour, so that the gap can be
// named.
//
// Not thread-safe: the session's lock guards it.
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
  std::string port;                  ///< empty: computed inside the node, but none of its outputs
  std::vector<Detour> detours = {};  ///< empty: the very value the node put out
  int pass = 0;                      ///< of the node, which put it out: 0 for its first
  /// The last call on its way, where all of them could be kept.
  std::shared_ptr<const BetweenCall> call = {};
  std::size_t result = 0;             ///< which of the tensors that the call returned
  Shape shape = {};                   ///< of that tensor, or of the output
  at::ScalarType dtype = at::kFloat;  ///< likewise

  bool exact() const noexcept { return detours.empty() && !port.empty(); }
  bool has_route() const noexcept { return exact() || call != nullptr; }
  Route route() const { return {{node, port}, call, result}; }
};

/// Erases the entries of a flat map that the condition holds for.
template <typename Map, typename Condition>
void erase_where(Map& map, Condition&& condition) {
  for (auto it = map.begin(); it != map.end();) {
    if (condition(*it)) {
      it = map.erase(it);
    } else {
      ++it;
    }
  }
}

/// Shared by all the data that it is true of. Null: of no node.
using TagRef = std::shared_ptr<const Tag>;

class TagTable {
 public:
  void set(const at::Tensor& tensor, TagRef tag);
  TagRef find(const at::Tensor& tensor) const;
  bool empty() const noexcept { return by_impl_.empty() && by_region_.empty(); }

  /// An operator outside every node made or wrote `result` of it; `call` is null where that cannot
  /// be repeated.
  void detour(const Tag& source, const at::Tensor& result, Detour detour,
              std::shared_ptr<const BetweenCall> call, std::size_t index);

  /// The tensor's memory is about to change: its tags no longer hold. Returns what had one and
  /// keeps some of its elements, as after `action[0] = 0`.
  std::vector<std::pair<at::Tensor, TagRef>> forget_memory(const at::Tensor& tensor);

 private:
  struct Entry {
    TagRef tag;
    c10::weak_intrusive_ptr<c10::TensorImpl> impl;  // both keep addresses from being reused
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

  /// The bytes from a tensor's first to its last, gaps included.
  static Region extent_of(const at::Tensor& tensor);
  /// The same of a tensor without gaps; nothing for others.
  static std::optional<Region> region_of(const at::Tensor& tensor);
  void sweep();

  ska::flat_hash_map<const c10::TensorImpl*, EntryRef> by_impl_;
  std::map<Region, EntryRef> by_region_;
  std::size_t longest_region_ = 0;
  std::size_t next_sweep_ = 1024;
};

}  // namespace leapp::session
