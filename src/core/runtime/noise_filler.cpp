#include "runtime/noise_filler.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "bundle/noise.h"

namespace leapp {

NoiseFiller::NoiseFiller(const Plan& plan, const Buffers& buffers, DeviceMemory* memory,
                         std::uint64_t seed)
    : plan_(plan),
      buffers_(buffers),
      memory_(memory),
      seed_(seed),
      supplied_(plan.noise.size(), false),
      runs_(plan.noise.size(), nullptr) {
  if (memory_ == nullptr) return;
  std::size_t largest = 0;
  for (const PlannedNoise& port : plan.noise) {
    largest = std::max(largest, buffers.byte_size(port.value) / sizeof(float));
  }
  scratch_.resize(largest);
}

Result<void> NoiseFiller::fill(std::size_t step, std::uint64_t number, std::uint64_t run) noexcept {
  for (std::size_t i = 0; i < plan_.noise.size(); ++i) {
    const PlannedNoise& port = plan_.noise[i];
    if (port.step != step || (supplied_[i] && runs_[i] == nullptr)) continue;
    const std::size_t bytes = buffers_.byte_size(port.value);
    void* const data = buffers_.view(port.value, 0).data;
    float* const target = memory_ != nullptr ? scratch_.data() : static_cast<float*>(data);
    if (runs_[i] != nullptr) {
      std::memcpy(target, static_cast<const std::byte*>(runs_[i]) + run * bytes, bytes);
    } else {
      fill_noise(port.distribution,
                 {.seed = seed_, .port = static_cast<std::uint32_t>(i), .number = number},
                 std::span(target, bytes / sizeof(float)));
    }
    if (memory_ == nullptr || bytes == 0) continue;
    if (Result<void> copied = memory_->copy(data, target, bytes, DeviceMemory::Copy::kToDevice);
        !copied) {
      return copied;
    }
  }
  return {};
}

}  // namespace leapp
