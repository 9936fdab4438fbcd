// Views that a traced number indexes: `row = ring[head]`.
//
// Plain indexing gives a view. The operators that take the number as a tensor, so that it stays in
// the graph, give a copy. `DynamicIndexViews` makes such copies behave as views: what is written to
// one side of a view reaches the other before anything reads it.
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
    std::int32_t equal_since = 0;  ///< calls on the tape when both sides were last equal
  };
  /// Makes both sides of a view equal.
  struct Step {
    std::shared_ptr<View> view;
    bool to_source;  ///< from the copy to the source

    void run() const;
  };

  bool empty() const noexcept { return views_.empty(); }
  void clear() { views_.clear(); }

  /// Adds a view whose copy was just made. Both its tensors are on the tape.
  void add(const Tape& tape, View view);

  /// Returns the next step before an operator uses the memory in `touched`, or (nullptr) before
  /// everything is read; nullopt if all views concerned are equal.
  std::optional<Step> next_step(Tape& tape, const std::vector<const c10::StorageImpl*>* touched);

  /// Notes that a step ran. Does nothing if its view was removed in between.
  void finish(const Tape& tape, const Step& step);

  /// Notes that `copy` is about to be written to the place in `source` that it is a view of: both
  /// sides are equal then. Does nothing if it is not such a view.
  void finish_write_back(const Tape& tape, const at::Tensor& copy, const at::Tensor& source,
                         const std::vector<at::Tensor>& indices);

 private:
  void remove_unused(Tape& tape);

  std::vector<std::shared_ptr<View>> views_;  // in the order they were made
};

}  // namespace leapp::trace
