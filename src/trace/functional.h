// ATen's functional tensors, as far as purify() needs them: values without their own memory, whose
// views and writes PyTorch converts to pure operators.
#pragma once

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/FunctionRef.h>

#include <optional>

namespace leapp::trace {

/// Converts a tensor to a functional one, and back, with all writes done.
at::Tensor wrap(const at::Tensor& tensor);
at::Tensor unwrap(const at::Tensor& tensor);

/// Applies `change` to every tensor in the value: the value itself, or the items of a list.
c10::IValue map_tensors(const c10::IValue& value,
                        c10::function_ref<at::Tensor(const at::Tensor&)> change);

/// Returns an operator that computes the same and declares its views, for operators whose schemas
/// do not declare that their results are views.
std::optional<c10::OperatorHandle> declared_view(const c10::OperatorHandle& op);

/// Returns whether functionalisation must compute a shape: for views, and to check that a write
/// fits.
bool is_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Computes that shape. The traced run has shown that writes fit, so a write returns its target,
/// which avoids kernels for meta tensors, many of which are written in Python.
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

/// Disables functionalisation for this thread's operators while it lives.
struct NotFunctionalising {
  c10::impl::ExcludeDispatchKeyGuard guard{c10::DispatchKeySet(c10::DispatchKey::Functionalize)};
};

}  // namespace leapp::trace
