// Which of ONNX Runtime's execution providers runs a model.
#pragma once

#include <string>
#include <vector>

namespace leapp {

inline constexpr const char* kCpuProvider = "CPUExecutionProvider";
inline constexpr const char* kCudaProvider = "CUDAExecutionProvider";

/// Returns the provider to use out of those available. `requested` is "cpu", "cuda", .. or a
/// provider's own name; empty means CUDA where it is, else the CPU. Throws Error(kValue) when what
/// is requested is not there.
std::string choose_provider(const std::string& requested,
                            const std::vector<std::string>& available);

}  // namespace leapp
