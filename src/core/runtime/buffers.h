// The memory of a plan's values: one aligned allocation, on the host or on a device, and a view of
// every copy of every value.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "leapp/engine.h"
#include "leapp/tensor_view.h"
#include "runtime/plan.h"

namespace leapp {

/// Initially zero. Movable; the memory keeps its address, so views stay valid.
class Buffers {
 public:
  Buffers() = default;
  /// Allocates in `memory`, or on the host if it is null. Throws Error.
  Buffers(const std::vector<PlannedValue>& values, std::shared_ptr<DeviceMemory> memory);

  /// Returns copy 0 or 1 of a value; both are the same memory unless the value is doubled.
  const TensorView& view(std::size_t value, std::size_t half) const noexcept {
    return views_[value][half];
  }

  std::size_t byte_size(std::size_t value) const noexcept { return sizes_[value]; }

  /// Places a value that is not doubled in the caller's memory; null moves it back to the own
  /// memory.
  void place(std::size_t value, void* data) noexcept;

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    std::shared_ptr<DeviceMemory> device;
    void operator()(std::byte* memory) const noexcept;
  };

  std::unique_ptr<std::byte[], Free> memory_;
  std::vector<std::array<TensorView, 2>> views_;
  std::vector<std::size_t> sizes_;
  std::vector<std::byte*> own_;  // position of a value's first copy in memory_
};

}  // namespace leapp
