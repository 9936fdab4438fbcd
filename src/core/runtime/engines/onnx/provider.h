// The choice of ONNX Runtime's execution provider for a model.
#pragma once

#include <string>
#include <vector>

namespace leapp {

inline constexpr const char* kCpuProvider = "CPUExecutionProvider";
inline constexpr const char* kCudaProvider = "CUDAExecutionProvider";

/// Returns the provider to use out of those available. `requested` is "cpu", "cuda", .. or a
/// provider's own name; empty means CUDA if it is available, otherwise the CPU. Throws
/// Error(kValue) if the requested provider is missing.
std::string choose_provider(const std::string& requested,
                            const std::vector<std::string>& available);

}  // namespace leapp
