// The public calls: each hands on to the session.
#include "leapp/leapp.h"
#include "session/session.h"
#include "trace/source.h"

namespace leapp {

using session::Session;

void start(const StartOptions& options) {
  Session::instance().start(options);
  touch();
}
void touch() {
  Session::instance().touch();
}
void stop() {
  Session::instance().stop();
}
bool is_active() noexcept {
  return Session::instance().active();
}
bool is_traced(const at::Tensor& tensor) {
  return Session::instance().is_traced(tensor);
}
bool may_vary(const at::Tensor& tensor) {
  return Session::instance().may_vary(tensor);
}
std::vector<std::pair<at::Tensor, std::string>> raw_constants_of(const std::string& node) {
  return Session::instance().raw_constants_of(node);
}
std::vector<at::Tensor> outside_of(const at::Tensor& tensor) {
  return Session::instance().outside_of(tensor);
}
std::string opened_at(const std::string& node) {
  return Session::instance().opened_at(node);
}
void note_made(const at::Tensor& tensor) {
  Session::instance().note_made(tensor);
}
bool was_input(const at::Tensor& tensor) {
  return Session::instance().was_input(tensor);
}
void note_size(const at::Tensor& tensor) {
  Session::instance().note_size(tensor);
}
bool was_read(const at::Tensor& tensor) {
  return Session::instance().was_read(tensor);
}
at::Tensor pick(const at::Tensor& of, const std::vector<std::int64_t>& places,
                const std::vector<at::Tensor>& numbers) {
  return Session::instance().pick(of, places, numbers);
}
void put_back(const at::Tensor& copy, const at::Tensor& of,
              const std::vector<at::Tensor>& numbers) {
  Session::instance().put_back(copy, of, numbers);
}
void put(const at::Tensor& of, const std::vector<std::int64_t>& places,
         const std::vector<at::Tensor>& numbers, const at::Tensor& value) {
  session::put(of, places, numbers, value);
}
void note_escape(const at::Tensor& tensor, const std::string& text) {
  Session::instance().note_escape(tensor, text);
}
void warn(const std::string& text) {
  Session::instance().warn(text);
}
void say(LogLevel level, const std::string& text) {
  Session::instance().say(level, text);
}

namespace annotate {
namespace {

// The session, ready for an annotation at that place.
Session& here(const std::source_location& where) {
  trace::set_cpp_location(where);
  Session::instance().settle_picks();
  return Session::instance();
}

}  // namespace

std::vector<at::Tensor> input_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  return here(where).input_tensors(node, tensors);
}

std::vector<at::Tensor> output_tensors(const std::string& node, const NamedTensors& tensors,
                                       const OutputOptions& options, std::source_location where) {
  return here(where).output_tensors(node, tensors, options);
}

std::vector<at::Tensor> state_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  return here(where).state_tensors(node, tensors);
}

std::vector<at::Tensor> update_state(const std::string& node, const NamedTensors& tensors,
                                     std::source_location where) {
  return here(where).update_state(node, tensors);
}

void module(const std::string& node, const NamedTensors& buffers,
            std::function<std::vector<at::Tensor>()> current, std::source_location where) {
  here(where).module(node, buffers, std::move(current));
}

std::vector<at::Tensor> register_buffer(const std::string& node, const NamedTensors& buffers,
                                        std::source_location where) {
  return here(where).register_buffer(node, buffers);
}

void mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target,
                       std::source_location where) {
  here(where).mirror_tags(source, target);
}

void abandon(const std::string& node) noexcept {
  Session::instance().abandon(node);
}

std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> method(
    const std::string& node,
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> callable,
    const OutputOptions& options, std::source_location where) {
  return [=](const std::vector<at::Tensor>& arguments) -> std::vector<at::Tensor> {
    if (!is_active()) return callable(arguments);
    NamedTensors inputs;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      inputs.push_back({"arg_" + std::to_string(i), arguments[i]});
    }
    const std::vector<at::Tensor> traced = input_tensors(node, inputs, where);
    Session::instance().enter_function();
    std::vector<at::Tensor> results;
    try {
      results = callable(traced);
    } catch (...) {
      Session::instance().leave_function();
      abandon(node);
      throw;
    }
    Session::instance().leave_function();
    NamedTensors outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      outputs.push_back({"output" + std::to_string(i + 1), results[i]});
    }
    return output_tensors(node, outputs, options, where);
  };
}

}  // namespace annotate
}  // namespace leapp
