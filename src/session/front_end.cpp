#include "session/front_end.h"

#include <utility>

#include "session/session.h"
#include "trace/source.h"

namespace leapp::front_end {

using session::Session;

void warm_up() {
  Session::instance().warm_up();
}
bool any_open() noexcept {
  return Session::instance().any_open();
}
std::vector<std::string> open_nodes() {
  return Session::instance().open_nodes();
}
int pass_of(const std::string& node) {
  return Session::instance().pass_of(node);
}
void enter_function(const std::string& node) {
  Session::instance().enter_function(node);
}
void leave_function(const std::string& node) {
  Session::instance().leave_function(node);
}
bool is_traced(const at::Tensor& tensor) {
  return Session::instance().is_traced(tensor);
}
bool may_vary(const at::Tensor& tensor) {
  return Session::instance().may_vary(tensor);
}
bool was_read(const at::Tensor& tensor) {
  return Session::instance().was_read(tensor);
}
bool was_input(const at::Tensor& tensor) {
  return Session::instance().was_input(tensor);
}
bool was_declared(const at::Tensor& tensor) {
  return Session::instance().was_declared(tensor);
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
std::vector<const void*> code_in(const std::string& node) {
  return Session::instance().code_in(node);
}
void note_made(const at::Tensor& tensor) {
  Session::instance().note_made(tensor);
}
void note_size(const at::Tensor& tensor) {
  Session::instance().note_size(tensor);
}
void note_escape(const at::Tensor& tensor, Code code, const std::string& text) {
  Session::instance().note_escape(tensor, code, text);
}
at::Tensor pick(const at::Tensor& of, const std::vector<std::int64_t>& places,
                const std::vector<at::Tensor>& numbers) {
  return Session::instance().pick(of, places, numbers);
}
void put(const at::Tensor& of, const std::vector<std::int64_t>& places,
         const std::vector<at::Tensor>& numbers, const at::Tensor& value) {
  session::put(of, places, numbers, value);
}
void put_back(const at::Tensor& copy, const at::Tensor& of,
              const std::vector<at::Tensor>& numbers) {
  Session::instance().put_back(copy, of, numbers);
}
void diagnose(Diagnostic diagnostic) {
  if (diagnostic.where.empty()) {
    diagnostic.where = trace::resolve_source(trace::capture_source()).to_string();
  }
  Session::instance().diagnostics().add(std::move(diagnostic));
}

}  // namespace leapp::front_end
