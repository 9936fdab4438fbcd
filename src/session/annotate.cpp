// Annotations of whole passes.
#include <c10/util/ScopeExit.h>

#include "leapp/leapp.h"
#include "session/front_end.h"
#include "session/live.h"

namespace leapp::annotate {
namespace {

// "arg_0", "arg_1" and so on.
NamedTensors named(const char* prefix, int number, const std::vector<at::Tensor>& tensors) {
  NamedTensors all;
  for (const at::Tensor& tensor : tensors)
    all.push_back({prefix + std::to_string(number++), tensor});
  return all;
}

}  // namespace

void abandon(const std::string& node) noexcept {
  if (session::Shadowing* shadow = session::shadowing) shadow->abandon(node);
  const session::Lock live;
  if (session::LiveNode* open = live->find(node)) live->drop_pass(*open);
}

std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> method(
    const std::string& node,
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> callable,
    const OutputOptions& options, std::source_location where) {
  return [=](const std::vector<at::Tensor>& arguments) -> std::vector<at::Tensor> {
    if (!is_active() && session::shadowing == nullptr) return callable(arguments);
    const std::vector<at::Tensor> traced = input_tensors(node, named("arg_", 0, arguments), where);
    std::vector<at::Tensor> results;
    try {
      front_end::enter_function(node);
      const auto left = c10::make_scope_exit([&] { front_end::leave_function(node); });
      results = callable(traced);
    } catch (...) {
      abandon(node);
      throw;
    }
    return output_tensors(node, named("output", 1, results), options, where);
  };
}

}  // namespace leapp::annotate
