// Annotations of whole passes.
#include <c10/util/ScopeExit.h>

#include "leapp/leapp.h"
#include "session/front_end.h"
#include "session/live.h"

namespace leapp::annotate {

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
    NamedTensors inputs;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      inputs.push_back({"arg_" + std::to_string(i), arguments[i]});
    }
    const std::vector<at::Tensor> traced = input_tensors(node, inputs, where);
    std::vector<at::Tensor> results;
    try {
      front_end::enter_function(node);
      const auto left = c10::make_scope_exit([&] { front_end::leave_function(node); });
      results = callable(traced);
    } catch (...) {
      abandon(node);
      throw;
    }
    NamedTensors outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      outputs.push_back({"output" + std::to_string(i + 1), results[i]});
    }
    return output_tensors(node, outputs, options, where);
  };
}

}  // namespace leapp::annotate
