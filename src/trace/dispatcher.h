// LEAPP's place in PyTorch's dispatcher.
//
// A boxed fallback sits above autograd and sees every operator once, composites whole, from Python
// and C++ alike. Installing an `Observer` enables it for the thread. While none is installed, the
// dispatcher never calls it, so inactive tracing costs nothing.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "leapp/visibility.h"

namespace leapp::trace {

/// Observes the operators that one thread calls. `on_call` must leave the operator's results on the
/// stack: by call_unobserved(), by redispatch_below(), or directly.
class Observer {
 public:
  virtual void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                       torch::jit::Stack* stack) = 0;

 protected:
  ~Observer() = default;
};

/// Returns whether the tensor is a wrapper of vmap or another transform, without its own memory.
bool is_wrapped(const at::Tensor& tensor);

/// Returns whether observers receive operators. False in a second copy of this library in one
/// process, because the dispatcher's key can be registered only once.
bool can_observe() noexcept;

/// Returns whether this thread's operators are hidden from its observer now, for example because
/// the program's code implements an operator that is observed itself.
LEAPP_EXPORT bool is_hidden() noexcept;

/// Installs the observer for this thread's operators; nullptr removes it. The observer must outlive
/// its installation.
void set_observer(Observer* observer) noexcept;

/// Installs the observer for this thread's operators while it lives, in place of any other.
class Observing {
 public:
  explicit Observing(Observer& observer) noexcept;
  ~Observing();
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  Observer* former_;
};

/// Runs the operator without observing the operators that it calls.
void call_unobserved(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Redispatches the call to the layers below (functorch, functionalisation); the observer also
/// receives the operators that these call.
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
