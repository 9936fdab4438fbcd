// Views that are indexed by a traced number: `row = ring[head]`.
//
// Plain indexing returns a view. The operators that accept the number as a tensor, so that it stays
// in the graph, return a copy. `DynamicIndexViews` makes such copies behave like views: a write to
// one side of a view is copied to the other side before anything reads it.
//
// Not thread-safe: the session's lock guards it. A `Step` runs without that lock, by operators that
// are recorded like the program's own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "leapp/visibility.h"
#include "trace/tape.h"

namespace leapp::trace {

/// Returns a copy of `source` with its dimensions `dims` indexed by `indices`, which are 0-d
/// integer tensors.
at::Tensor index_copy(const at::Tensor& source, const std::vector<std::int64_t>& dims,
                      const std::vector<at::Tensor>& indices);

/// Writes `value` to those elements of `target`.
LEAPP_EXPORT void index_write(const at::Tensor& target, const std::vector<std::int64_t>& dims,
                              const std::vector<at::Tensor>& indices, const at::Tensor& value);

class DynamicIndexViews {
 public:
  struct View {
    at::Tensor copy;
    at::Tensor source;
    std::vector<std::int64_t> dims;
    std::vector<at::Tensor> indices;
    std::int32_t equal_since = 0;  ///< number of calls on the tape when both sides were last equal
  };
  /// Makes both sides of a view equal.
  struct Step {
    std::shared_ptr<View> view;
    bool to_source;  ///< from the copy to the source

    void run() const;
  };

  bool empty() const noexcept { return views_.empty(); }
  void clear() { views_.clear(); }

  /// Adds a view after its copy was created. Both its tensors are on the tape.
  void add(const Tape& tape, View view);

  /// Returns the next step before an operator uses the memory in `touched`, or with nullptr before
  /// everything is read; nullopt if all affected views are equal.
  std::optional<Step> next_step(Tape& tape, const std::vector<const c10::StorageImpl*>* touched);

  /// Records that a step ran. Does nothing if its view was removed in between.
  void finish(const Tape& tape, const Step& step);

  /// Records that `copy` is about to be written to its position in `source`, so that both sides are
  /// equal. Does nothing if it is not such a view.
  void finish_write_back(const Tape& tape, const at::Tensor& copy, const at::Tensor& source,
                         const std::vector<at::Tensor>& indices);

 private:
  void remove_unused(Tape& tape);

  std::vector<std::shared_ptr<View>> views_;  // in the order of creation
};

}  // namespace leapp::trace
