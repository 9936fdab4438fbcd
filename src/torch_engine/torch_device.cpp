#include "torch_engine/torch_device.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <map>
#include <mutex>
#include <unordered_map>

#include "torch_engine/torch_dtype.h"

namespace leapp {
namespace {

// Uses libtorch's device-neutral interfaces on its current stream, so the work is ordered with the
// caller's own torch code.
class TorchMemory final : public DeviceMemory {
 public:
  explicit TorchMemory(at::Device device) : device_(device), guard_(device.type()) {}

  std::string device() const override { return device_.str(); }

  void* allocate(std::size_t bytes) override {
    const at::Tensor block =
        at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kByte).device(device_));
    const std::lock_guard lock(mutex_);
    blocks_.emplace(block.data_ptr(), block);
    return block.data_ptr();
  }

  void release(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    blocks_.erase(memory);
  }

  Result<void> copy(void* to, const void* from, std::size_t bytes, Copy way) noexcept override {
    return guarded([&] {
      const Shape shape = {static_cast<std::int64_t>(bytes)};
      const at::Device host(at::kCPU);
      const at::Tensor target =
          tensor_over(to, DType::kUInt8, shape, way == Copy::kToHost ? host : device_);
      const at::Tensor source =
          tensor_over(from, DType::kUInt8, shape, way == Copy::kToDevice ? host : device_);
      target.copy_(source, /*non_blocking=*/way == Copy::kWithin);
    });
  }

  Result<void> synchronize() noexcept override {
    return guarded([&] { guard_.synchronizeStream(guard_.getStream(device_)); });
  }

  std::unique_ptr<Recording> record(const std::function<Result<void>()>& work) override {
    return device_.is_cuda() ? record_cuda(device_, work) : nullptr;
  }

 private:
  template <typename Call>
  Result<void> guarded(const Call& call) const noexcept {
    try {
      const c10::DeviceGuard here(device_);
      call();
      return {};
    } catch (const c10::Error& error) {
      return Failure(Code::kDeviceFailed, {device_.str(), ": ", error.what_without_backtrace()});
    } catch (const std::exception& error) {
      return Failure(Code::kDeviceFailed, error.what());
    }
  }

  at::Device device_;
  c10::impl::VirtualGuardImpl guard_;
  std::mutex mutex_;
  std::unordered_map<void*, at::Tensor> blocks_;
};

}  // namespace

at::Device choose_device(const std::string& provider, const std::string& node) {
  if (provider.empty() || provider == "cpu") return at::Device(at::kCPU);
  const auto missing = [&](const std::string& why) {
    return Error(Code::kNoProvider, "node '" + node + "': the TorchScript engine cannot run on '" +
                                        provider + "': " + why);
  };
  try {
    at::Device device(provider);
    if (!c10::impl::hasDeviceGuardImpl(device.type()))
      throw missing("this libtorch has no such device");
    const c10::impl::VirtualGuardImpl guard(device.type());
    if (!device.has_index()) device.set_index(guard.getDevice().index());
    if (device.index() >= guard.deviceCount()) throw missing("this machine has no such device");
    return device;
  } catch (const c10::Error&) {
    throw missing("libtorch knows no such device");
  }
}

std::shared_ptr<DeviceMemory> memory_of(at::Device device) {
  if (device.is_cpu()) return nullptr;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<DeviceMemory>>& memories =
      *new std::map<std::string, std::shared_ptr<DeviceMemory>>();  // outlives every manager
  const std::lock_guard lock(mutex);
  std::shared_ptr<DeviceMemory>& memory = memories[device.str()];
  if (!memory) memory = std::make_shared<TorchMemory>(device);
  return memory;
}

at::Tensor tensor_over(const void* data, DType dtype, const Shape& shape, at::Device device) {
  // from_blob needs a non-const pointer; models that write to an input get a copy instead.
  return at::from_blob(
      const_cast<void*>(data), shape, [](void*) {},
      at::TensorOptions(to_torch(dtype)).device(device), device);
}

}  // namespace leapp
