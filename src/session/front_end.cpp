#include "session/front_end.h"

#include <algorithm>
#include <set>

#include "session/passes.h"
#include "session/session_lock.h"
#include "trace/sizes.h"

namespace leapp::front_end {
namespace {

using session::kNoId;
using session::Pass;
using session::Session;
using session::SessionData;
using session::SessionLock;
using session::SessionNode;
using session::VarId;
using trace::memory_of;

bool follows(const SessionData& data, const at::Tensor& tensor) {
  return data.active && (data.tape.owner_of(tensor) != kNoId || data.tags.find(tensor));
}

// The first pass of a node, if there is one and its operators were recorded.
const Pass* recorded_pass(SessionData& data, const std::string& name) {
  const SessionNode* node = data.nodes.find(name);
  return node == nullptr || node->passes.empty() || !node->traced ? nullptr : &node->passes.front();
}

// The tensors that the program made outside of nodes and the pass used, and where.
std::vector<std::pair<at::Tensor, trace::FrameRef>> raw_constants(const SessionData& data,
                                                                  const Pass& pass) {
  std::vector<std::pair<at::Tensor, trace::FrameRef>> found;
  const trace::Tape& tape = pass.tape();
  std::set<trace::StoreId> seen = {kNoId};
  for (const session::MemoryUse& use : pass.memory) {
    if (use.after || !use.declared.empty()) seen.insert(tape.variable(use.var).store);
  }
  for (const std::int32_t index : trace::calls_for(pass.recording, {})) {
    trace::for_each_variable(tape, tape.call(index), [&](VarId var) {
      const trace::Variable& variable = tape.variable(var);
      if (!trace::is_from_outside(tape, var) || !seen.insert(variable.store).second) return;
      if (data.memory.find_creation(variable.held) == nullptr) return;
      if (data.tags.find(variable.held)) return;  // a node's value, which is named by itself
      found.emplace_back(variable.held, tape.call(index).frame);
    });
  }
  return found;
}

// Whether a pass used this memory as one from outside; a later pass also by taking it in.
bool has_read(const Pass& pass, bool is_first, const c10::StorageImpl* memory) {
  const auto is_it = [&](const at::Tensor& tensor) { return memory_of(tensor) == memory; };
  const auto held = [&](const session::OutsideRead& read) {
    return pass.tape().variable(read.var).held;
  };
  const auto given = [&](const auto& input) { return pass.tape().tensor(input.var); };
  return std::ranges::any_of(pass.outside, is_it, held) ||
         std::ranges::any_of(pass.memory, is_it, &session::MemoryUse::found) ||
         (!is_first && std::ranges::any_of(pass.recording.inputs, is_it, given));
}

}  // namespace

bool any_open() noexcept {
  return Session::instance().activity().open_passes.load(std::memory_order_acquire) > 0;
}

std::vector<std::string> open_nodes() {
  return SessionLock()->nodes.open_names();
}

int pass_of(const std::string& name) {
  const SessionLock data;
  const SessionNode* node = data->nodes.find(name);
  return node == nullptr ? 0 : node->completed + (node->pass.open ? 1 : 0);
}

void enter_function(const std::string& node) {
  SessionLock()->nodes.enter_function(node);
}

void leave_function(const std::string& node) {
  SessionLock()->nodes.leave_function(node);
}

bool is_traced(const at::Tensor& tensor) {
  return follows(*SessionLock(), tensor);
}

bool may_vary(const at::Tensor& tensor) {
  static const c10::OperatorName literal("aten::lift_fresh", "");  // torch.tensor(3)
  const SessionLock data;
  if (follows(*data, tensor)) return true;
  if (!data->tape.can_hold(tensor)) return false;
  const auto var = data->tape.variable_of(tensor);
  if (!var || trace::is_from_outside(*data->tape, *var)) return true;
  // Not depends_on(): what is written out in the code comes from outside as well.
  bool found = false;
  for (const std::int32_t index : trace::slice(*data->tape, {*var})) {
    const trace::Call& call = data->tape->call(index);
    if (call.op.operator_name() == literal) continue;
    trace::for_each_variable(*data->tape, call,
                             [&](VarId id) { found |= trace::is_from_outside(*data->tape, id); });
  }
  return found;
}

std::vector<at::Tensor> outside_of(const at::Tensor& tensor) {
  const SessionLock data;
  std::vector<at::Tensor> found;
  if (!data->tape.can_hold(tensor)) return found;
  const auto var = data->tape.variable_of(tensor);
  if (!var) return {tensor};
  std::set<trace::StoreId> seen = {kNoId};
  trace::depends_on(*data->tape, *var, [&](VarId id) {
    const trace::Variable& variable = data->tape->variable(id);
    const bool outside = variable.origin == trace::Variable::Origin::kOutside;
    if (outside && seen.insert(variable.store).second) {
      found.push_back(variable.held);
    }
    return false;
  });
  return found;
}

std::string opened_at(const std::string& name) {
  trace::FrameRef frame;
  {
    const SessionLock data;
    if (const SessionNode* node = data->nodes.find(name)) frame = node->pass.record.opened_at;
  }
  return trace::resolve_source(frame).to_string();
}

std::vector<CodeIn> code_in(const std::string& name) {
  const SessionLock data;
  const Pass* pass = recorded_pass(*data, name);
  if (pass == nullptr) return {};
  std::set<const void*> found;
  const auto add = [&](trace::FrameRef frame) {
    if (frame.code != nullptr && frame.position >= 0) found.insert(frame.code);  // not C++
  };
  add(pass->opened_at);
  for (std::int32_t i = pass->recording.first_call; i < pass->recording.end_call; ++i) {
    add(pass->tape().call(i).frame);
  }
  std::vector<CodeIn> code;
  for (const void* each : found) {
    code.push_back({each});
    if (each != pass->opened_at.code || each != pass->closed_at.code) continue;
    code.back().between = {pass->opened_at.position, pass->closed_at.position};
  }
  return code;
}

std::vector<std::pair<at::Tensor, std::string>> raw_constants_of(const std::string& name) {
  std::vector<std::pair<at::Tensor, trace::FrameRef>> found;
  {
    const SessionLock data;
    if (const Pass* pass = recorded_pass(*data, name)) found = raw_constants(*data, *pass);
  }
  std::vector<std::pair<at::Tensor, std::string>> with_places;
  for (auto& [tensor, frame] : found) {
    with_places.emplace_back(std::move(tensor), trace::resolve_source(frame).to_string());
  }
  return with_places;
}

bool was_input(const at::Tensor& tensor) {
  return SessionLock()->nodes.is_input(tensor);
}

bool was_declared(const at::Tensor& tensor) {
  const SessionLock data;
  const auto is_it = [&](const at::Tensor& declared) { return declared.is_same(tensor); };
  return std::ranges::any_of(data->nodes, [&](const SessionNode& node) {
    return std::ranges::any_of(node.declared, is_it);
  });
}

bool was_read(const at::Tensor& tensor) {
  const SessionLock data;
  const c10::StorageImpl* memory = memory_of(tensor);
  return memory != nullptr && std::ranges::any_of(data->nodes, [&](const SessionNode& node) {
           return std::ranges::any_of(node.passes, [&](const Pass& pass) {
             return has_read(pass, &pass == &node.passes.front(), memory);
           });
         });
}

void await_ends() {
  const SessionLock data;
  for (SessionNode& node : data->nodes) node.pass.awaited = node.pass.open;
}

void note_made(const at::Tensor& tensor) {
  const SessionLock data;
  if (data->active) data->memory.add_creation(tensor, {}, data->recorded_passes);
}

void note_size(const at::Tensor& tensor) {
  if (!Session::instance().activity().sizes_vary) return;
  const trace::FrameRef frame = trace::capture_source();
  const SessionLock data;
  const auto var = data->tape.variable_of(tensor);
  if (!var || data->tape->variable(*var).dynamic == 0) return;
  const session::NodeId owner = data->tape->variable(*var).node;
  data->messages.warn(Code::kDataDependentSize, owner == kNoId ? "" : data->nodes.at(owner).name,
                      trace::kSizeRead, frame);
}

void note_escape(const at::Tensor& tensor, Code code, const std::string& text) {
  const trace::FrameRef frame = trace::capture_source();
  const SessionLock data;
  if (!data->tape.can_hold(tensor)) return;
  const VarId var = data->tape->use(tensor);
  session::note_escape(*data, var, data->tape->variable(var).node, frame, code, text);
}

at::Tensor index_view(const at::Tensor& source, const std::vector<std::int64_t>& dims,
                      const std::vector<at::Tensor>& indices) {
  at::Tensor copy = trace::index_copy(source, dims, indices);
  const SessionLock data;
  if (data->tape && data->tape->find(copy) && source.has_storage()) {
    data->tape.views.add(*data->tape, {copy, source, dims, indices});
  }
  return copy;
}

void begin_write_back(const at::Tensor& copy, const at::Tensor& source,
                      const std::vector<at::Tensor>& indices) {
  const SessionLock data;
  if (data->tape) data->tape.views.finish_write_back(*data->tape, copy, source, indices);
}

void diagnose(Diagnostic diagnostic) {
  if (diagnostic.where.empty()) {
    diagnostic.where = trace::resolve_source(trace::capture_source()).to_string();
  }
  Session::instance().diagnostics().add(std::move(diagnostic));
}

}  // namespace leapp::front_end
