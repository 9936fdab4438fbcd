// The content of external memory at its first use.
//
// Reading does not copy weights: a capture refers to the live memory, and copies it only before an
// operator writes to it. Writes without an operator (NumPy, another library) change only the
// version counter, or nothing; `changed_unseen` detects the former.
//
// Not thread-safe: the session's lock guards it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/flat_hash_map.h>

#include <memory>

namespace leapp::trace {

/// Returns a second tensor object over the same memory, version counter included, that autograd
/// ignores.
at::Tensor alias_of(const at::Tensor& tensor);

/// Returns a contiguous copy that autograd and the recorder ignore; undefined for an undefined
/// tensor.
at::Tensor copy_of(const at::Tensor& tensor);

/// Returns the identity of a tensor's memory, or nullptr if it has none.
const c10::StorageImpl* memory_of(const at::Tensor& tensor);

/// Returns the number of writes by operators to the tensor's memory, or 0 for an inference tensor,
/// which has no counter.
std::int64_t version_of(const at::Tensor& tensor);

class Capture {
 public:
  explicit Capture(const at::Tensor& tensor);

  /// Copies the memory now, unless that was done before.
  void freeze();
  bool frozen() const noexcept { return frozen_.has_value(); }

  /// Returns whether the live memory was written to without an earlier freeze().
  bool changed_unseen() const;

  /// Returns an alias of the tensor that was captured, with the live content.
  const at::Tensor& live() const noexcept { return live_; }

  /// Returns `alias`, a tensor in this memory, with the captured content.
  at::Tensor content(const at::Tensor& alias) const;

 private:
  at::Tensor live_;
  std::optional<c10::Storage> frozen_;
  std::int64_t version_;
};

/// The captures that still refer to live memory, by storage.
class CaptureTable {
 public:
  /// Creates a table with space for the weights of a small pipeline.
  CaptureTable() { live_.reserve(64); }

  /// Returns the capture of the tensor's memory; the same one until it is frozen.
  std::shared_ptr<Capture> capture(const at::Tensor& tensor);

  /// Captures the content. Must be called before an operator writes to the tensor.
  void before_write(const at::Tensor& tensor);

  bool empty() const noexcept { return live_.empty(); }

 private:
  struct Entry {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;  // prevents the reuse of the address
    std::weak_ptr<Capture> capture;
  };
  ska::flat_hash_map<const c10::StorageImpl*, Entry> live_;
};

}  // namespace leapp::trace
