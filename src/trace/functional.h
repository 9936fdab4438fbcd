// ATen's functional tensors, as far as purify() needs them: values without memory of their own,
// whose views and writes PyTorch turns into pure operators.
#pragma once

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/FunctionRef.h>

#include <optional>

namespace leapp::trace {

/// Returns the tensor as a functional one, and back, with all writes done.
at::Tensor wrap(const at::Tensor& tensor);
at::Tensor unwrap(const at::Tensor& tensor);

/// Applies `change` to every tensor in the value: the value itself, or the items of a list.
c10::IValue map_tensors(const c10::IValue& value,
                        c10::function_ref<at::Tensor(const at::Tensor&)> change);

/// Returns an operator that computes the same and declares its views, for operators whose schemas
/// do not declare that their results are views.
std::optional<c10::OperatorHandle> declared_view(const c10::OperatorHandle& op);

/// Returns whether functionalisation works out a shape: those of views, and whether a write fits.
bool is_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Does so. The traced run has shown that writes fit, so one returns what it would have written to,
/// and kernels for meta tensors, many of them Python, stay out of it.
void run_on_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Functionalises this thread's operators while it lives; views stay views.
class Functionalising {
 public:
  Functionalising();
  ~Functionalising();
  Functionalising(const Functionalising&) = delete;
  Functionalising& operator=(const Functionalising&) = delete;

 private:
  at::functionalization::impl::FunctionalizationReapplyViewsGuard views_{true};
};

/// Lets this thread's operators run as they are while it lives.
struct NotFunctionalising {
  c10::impl::ExcludeDispatchKeyGuard guard{c10::DispatchKeySet(c10::DispatchKey::Functionalize)};
};

}  // namespace leapp::trace
