// The memory of libtorch's devices, for the runtime.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "leapp/engine.h"

namespace leapp {

/// Returns the device of an engine option; empty and "cpu" are the CPU. Throws Error(kValue) if it
/// is missing.
at::Device choose_device(const std::string& provider, const std::string& node);

/// Returns the memory of a device; null for the CPU. One object per device, shared by all engines.
std::shared_ptr<DeviceMemory> memory_of(at::Device device);

/// Records CUDA work as a graph. Null in a build without CUDA.
std::unique_ptr<Recording> record_cuda(at::Device device,
                                       const std::function<Result<void>()>& work);

/// Returns a tensor over memory of a device.
at::Tensor tensor_over(const void* data, DType dtype, const Shape& shape, at::Device device);

}  // namespace leapp
