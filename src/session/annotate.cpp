// The public calls: each hands on to the session.
#include "base/check.h"
#include "leapp/leapp.h"
#include "session/front_end.h"
#include "session/session.h"
#include "session/shadowing.h"
#include "trace/source.h"

namespace leapp {

using session::Session;

void start(const StartOptions& options) {
  require(session::shadowing() == nullptr, Code::kNotShadowed,
          "leapp.start(): a shadow run is on, and annotations cannot serve both; end it first.");
  Session::instance().start(options);
  front_end::warm_up();
}
void stop() {
  Session::instance().stop();
}
bool is_active() noexcept {
  return Session::instance().active();
}
std::vector<Diagnostic> diagnostics() {
  return Session::instance().diagnostics().by_harm();
}

namespace annotate {
namespace {

// The session, ready for an annotation at that place.
Session& here(const std::source_location& where) {
  trace::set_cpp_location(where);
  Session::instance().settle_picks();
  return Session::instance();
}

// The shadow run to tell of an annotation at that place; nullptr while a session is tracing.
session::Shadowing* beside(const std::source_location& where) {
  session::Shadowing* const shadowing = session::shadowing();
  if (shadowing == nullptr || is_active()) return nullptr;
  trace::set_cpp_location(where);
  return shadowing;
}

}  // namespace

std::vector<at::Tensor> input_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  if (session::Shadowing* shadow = beside(where)) shadow->inputs(node, tensors);
  return here(where).input_tensors(node, tensors);
}

std::vector<at::Tensor> output_tensors(const std::string& node, const NamedTensors& tensors,
                                       const OutputOptions& options, std::source_location where) {
  if (session::Shadowing* shadow = beside(where)) {
    shadow->outputs(node, tensors, options.static_outputs);
  }
  return here(where).output_tensors(node, tensors, options);
}

std::vector<at::Tensor> state_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  if (session::Shadowing* shadow = beside(where)) shadow->states(node, tensors);
  return here(where).state_tensors(node, tensors);
}

std::vector<at::Tensor> update_state(const std::string& node, const NamedTensors& tensors,
                                     std::source_location where) {
  if (session::Shadowing* shadow = beside(where)) shadow->updates(node, tensors);
  return here(where).update_state(node, tensors);
}

void module(const std::string& node, const NamedTensors& buffers,
            std::function<std::vector<at::Tensor>()> current, std::source_location where) {
  if (session::Shadowing* shadow = beside(where)) shadow->states(node, buffers);
  here(where).module(node, buffers, std::move(current));
}

std::vector<at::Tensor> register_buffer(const std::string& node, const NamedTensors& buffers,
                                        std::source_location where) {
  if (session::Shadowing* shadow = beside(where)) shadow->states(node, buffers);
  return here(where).register_buffer(node, buffers);
}

void mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target,
                       std::source_location where) {
  here(where).mirror_tags(source, target);
}

void abandon(const std::string& node) noexcept {
  if (session::Shadowing* shadow = session::shadowing()) shadow->abandon(node);
  Session::instance().abandon(node);
}

std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> method(
    const std::string& node,
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> callable,
    const OutputOptions& options, std::source_location where) {
  return [=](const std::vector<at::Tensor>& arguments) -> std::vector<at::Tensor> {
    if (!is_active() && session::shadowing() == nullptr) return callable(arguments);
    NamedTensors inputs;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      inputs.push_back({"arg_" + std::to_string(i), arguments[i]});
    }
    const std::vector<at::Tensor> traced = input_tensors(node, inputs, where);
    Session::instance().enter_function(node);
    std::vector<at::Tensor> results;
    try {
      results = callable(traced);
    } catch (...) {
      Session::instance().leave_function(node);
      abandon(node);
      throw;
    }
    Session::instance().leave_function(node);
    NamedTensors outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      outputs.push_back({"output" + std::to_string(i + 1), results[i]});
    }
    return output_tensors(node, outputs, options, where);
  };
}

}  // namespace annotate
}  // namespace leapp
