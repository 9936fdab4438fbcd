#include "trace/dispatcher.h"

#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "trace/functional.h"

namespace leapp::trace {
namespace {

// PyTorch's key for "generic modes": above all others, and unused by PyTorch itself.
constexpr auto kKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

// An active transform has one of these keys: its modes, or the wrappers around its values; the last
// two belong to torch.autograd.functional. The back mode is needed because functorch hides the
// wrappers' own key while it processes a level.
constexpr c10::DispatchKeySet kTransforms{c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                                          c10::DispatchKey::FuncTorchDynamicLayerBackMode,
                                          c10::DispatchKey::FuncTorchBatched,
                                          c10::DispatchKey::FuncTorchGradWrapper,
                                          c10::DispatchKey::FuncTorchVmapMode,
                                          c10::DispatchKey::Batched,
                                          c10::DispatchKey::VmapMode};

thread_local Observer* current_observer = nullptr;

// functorch replaces the thread's excluded keys by its own, so exclusion alone would not stop a
// nested call.
thread_local int unobserved_depth = 0;

// Forward-mode derivatives of constants are zeros without memory.
at::Tensor with_memory(const at::Tensor& tensor) {
  return tensor._is_zerotensor() ? at::zeros(tensor.sizes(), tensor.options()) : tensor;
}

// If tensors have no memory, repeats the call with tensors that do, because neither model files nor
// recordings can contain tensors without memory.
bool call_with_memory(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                      torch::jit::Stack* stack) {
  static auto& dispatcher = c10::Dispatcher::singleton();
  static const auto without = dispatcher.findSchemaOrThrow("aten::_efficientzerotensor", "");
  static const auto zeros = dispatcher.findSchemaOrThrow("aten::zeros", "");
  if (op == without) {
    zeros.callBoxed(stack);  // accepts the same arguments
    return true;
  }
  if (!keys.has(c10::DispatchKey::ZeroTensor)) return false;
  for (std::size_t i = stack->size() - op.schema().arguments().size(); i < stack->size(); ++i) {
    (*stack)[i] = map_tensors((*stack)[i], with_memory);
  }
  op.callBoxed(stack);
  return true;
}

void fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (current_observer == nullptr || unobserved_depth > 0) {
    redispatch_below(op, keys, stack);
  } else if (keys.has_any(kTransforms)) {
    // vmap and the other transforms hide values in wrappers: let them unwrap first.
    redispatch_below(op, keys, stack);
  } else if (!call_with_memory(op, keys, stack)) {
    current_observer->on_call(op, keys, stack);
  }
}

// Registers for the key when the library is loaded, unless another library has it.
bool take_key() {
  if (c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(kKey)) return false;
  static torch::Library library(torch::Library::IMPL, "_", kKey, __FILE__, __LINE__);
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
  return true;
}

const bool has_key = take_key();

}  // namespace

bool is_hidden() noexcept {
  return unobserved_depth > 0;
}

bool can_observe() noexcept {
  return has_key;
}

bool is_wrapped(const at::Tensor& tensor) {
  return tensor.key_set().has_any(kTransforms);
}

void set_observer(Observer* observer) noexcept {
  current_observer = observer;
  c10::impl::tls_set_dispatch_key_included(kKey, observer != nullptr);
}

Observing::Observing(Observer& observer) noexcept : former_(current_observer) {
  set_observer(&observer);
}
Observing::~Observing() {
  set_observer(former_);
}

void call_unobserved(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Unobserved guard;
  op.callBoxed(stack);
}

void redispatch_below(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                      torch::jit::Stack* stack) {
  op.redispatchBoxed(keys.remove(kKey), stack);
}

Unobserved::Unobserved() : guard_(c10::DispatchKeySet(kKey)) {
  ++unobserved_depth;
}
Unobserved::~Unobserved() {
  --unobserved_depth;
}

}  // namespace leapp::trace
