// Whole ticks as CUDA graphs. Compiled if CUDA's headers and libtorch's CUDA libraries are
// available.
#include "torch_engine/torch_device.h"

#ifdef LEAPP_WITH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace leapp {

#ifdef LEAPP_WITH_CUDA
namespace {

class CudaGraph final : public Recording {
 public:
  CudaGraph(at::Device device, const std::function<Result<void>()>& work) : device_(device) {
    // The default stream cannot be recorded, so another stream records, after all work submitted so
    // far.
    const c10::cuda::CUDAGuard here(device_);
    const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false, device_.index());
    c10::cuda::getCurrentCUDAStream(device_.index()).synchronize();
    const c10::cuda::CUDAStreamGuard recording(stream);
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    const Result<void> result = work();
    graph_.capture_end();
    result.value();
  }

  Result<void> replay() noexcept override {
    try {
      const c10::cuda::CUDAGuard here(device_);
      graph_.replay();
      return {};
    } catch (const std::exception& error) {
      return Failure(Code::kDeviceFailed, {"the recorded tick failed: ", error.what()});
    }
  }

 private:
  at::Device device_;
  at::cuda::CUDAGraph graph_;
};

}  // namespace

std::unique_ptr<Recording> record_cuda(at::Device device,
                                       const std::function<Result<void>()>& work) {
  try {
    return std::make_unique<CudaGraph>(device, work);
  } catch (const c10::Error& error) {
    throw Error(Code::kDeviceFailed, error.what_without_backtrace());
  }
}
#else
std::unique_ptr<Recording> record_cuda(at::Device, const std::function<Result<void>()>&) {
  return nullptr;
}
#endif

}  // namespace leapp
