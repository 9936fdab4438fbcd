// A value that can be accessed only while its mutex is held.
#pragma once

#include <mutex>

namespace leapp {

/// Owns a value and its mutex. Access to the value requires an `Access` object, so code that reads
/// or writes it without the mutex does not compile.
template <typename T>
class Guarded {
 public:
  /// A lock of the mutex with access to the value. References from it must not outlive it.
  class Access {
   public:
    explicit Access(Guarded& guarded) : lock_(guarded.mutex_), value_(guarded.value_) {}
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;
    T& operator*() const noexcept { return value_; }
    T* operator->() const noexcept { return &value_; }

   private:
    std::lock_guard<std::mutex> lock_;
    T& value_;
  };

  Guarded() = default;
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

 private:
  std::mutex mutex_;
  T value_ = {};
};

}  // namespace leapp
