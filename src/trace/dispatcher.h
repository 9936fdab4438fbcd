// LEAPP's place in PyTorch's dispatcher.
//
// A boxed fallback sits above autograd and sees every operator once, composites whole, from Python
// and C++ alike. It is switched on per thread by installing an `Observer`; while none is installed
// the dispatcher never enters it, so tracing that is off costs nothing.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "leapp/visibility.h"

namespace leapp::trace {

/// Sees the operators that one thread calls. `on_call` must leave the operator's results on the
/// stack: by call_unobserved(), by redispatch_below(), or by itself.
class Observer {
 public:
  virtual void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                       torch::jit::Stack* stack) = 0;

 protected:
  ~Observer() = default;
};

/// Returns whether the tensor is a wrapper of vmap or another transform, without memory of its own.
bool is_wrapped(const at::Tensor& tensor);

/// Returns whether observers see anything. False in a second copy of this library in one process:
/// the place in the dispatcher can be had once.
bool can_observe() noexcept;

/// Makes the observer see this thread's operators; nullptr ends that. The observer must outlive its
/// installation.
void set_observer(Observer* observer) noexcept;

/// Makes the observer see this thread's operators while it lives, in place of any other.
class Observing {
 public:
  explicit Observing(Observer& observer) noexcept;
  ~Observing();
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  Observer* former_;
};

/// Runs the operator; what it calls inside stays unseen.
void call_unobserved(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Redispatches the call to the layers below (functorch, functionalisation); the operators they
/// make of it reach the observer again.
void redispatch_below(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                      torch::jit::Stack* stack);

/// Hides this thread's operators from its observer while it lives.
class LEAPP_EXPORT Unobserved {
 public:
  Unobserved();
  ~Unobserved();
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

}  // namespace leapp::trace
