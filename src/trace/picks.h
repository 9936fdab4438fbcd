// Elements that a number chose: `row = ring[head]`.
//
// Plain indexing gives a view. The operators that take the number as a tensor, so that it stays in
// the graph, give a copy. `Picks` lets such copies behave as views: what was written to one reaches
// the tensor it is of, and the other way round, before anything looks at either.
//
// Not thread-safe: the session's lock guards it. A `Step` is taken without that lock, by operators
// that are recorded like the program's own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "leapp/visibility.h"
#include "trace/tape.h"

namespace leapp::trace {

/// `of` with its dimensions `places` taken at `numbers`, 0-d integer tensors: as a copy.
at::Tensor take(const at::Tensor& of, const std::vector<std::int64_t>& places,
                const std::vector<at::Tensor>& numbers);

/// Writes `value` to those elements of `of`.
LEAPP_EXPORT void put(const at::Tensor& of, const std::vector<std::int64_t>& places,
                      const std::vector<at::Tensor>& numbers, const at::Tensor& value);

class Picks {
 public:
  struct Pick {
    at::Tensor copy;
    at::Tensor of;
    std::vector<std::int64_t> places;
    std::vector<at::Tensor> numbers;
    std::int32_t agreed = 0;  ///< number of calls on the tape when both sides were the same
  };
  /// What makes the two sides of a pick the same again.
  struct Step {
    std::shared_ptr<Pick> pick;
    bool back;  ///< from the copy to the tensor

    void take() const;
  };

  bool empty() const noexcept { return picks_.empty(); }
  void clear() { picks_.clear(); }

  /// Takes a pick in that was made just now; both its tensors are on the tape.
  void add(const Tape& tape, Pick pick);

  /// The next step before an operator may touch this memory, or (nullptr) before everything is
  /// looked at; nullopt when nothing is left to do.
  std::optional<Step> next(Tape& tape, const std::vector<const c10::StorageImpl*>* touched);

  /// Says that both sides of the pick are the same now.
  static void agree(const Tape& tape, Pick& pick);

  /// The pick that this tensor is the copy of, if those numbers chose it from all of `of`.
  Pick* find(const at::Tensor& copy, const at::Tensor& of, const std::vector<at::Tensor>& numbers);

 private:
  void forget_unused(Tape& tape);

  std::vector<std::shared_ptr<Pick>> picks_;  // in the order they were made
};

}  // namespace leapp::trace
