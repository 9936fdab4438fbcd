#include "session/front_end.h"

#include <algorithm>
#include <set>

#include "session/passes.h"
#include "session/session_lock.h"
#include "trace/sizes.h"

namespace leapp::front_end {
namespace {

using session::kNoId;
using session::Session;
using session::SessionData;
using session::SessionLock;
using session::SessionNode;
using session::VarId;

bool follows(const SessionData& data, const at::Tensor& tensor) {
  return data.active && (data.tape.owner_of(tensor) != kNoId || data.tags.find(tensor));
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
  // Not depends_on(), because literals in the code are also external.
  bool found = false;
  for (const std::int32_t index : trace::slice(*data->tape, {*var})) {
    const trace::Call& call = data->tape->call(index);
    if (call.op.operator_name() == literal) continue;
    trace::for_each_variable(*data->tape, call,
                             [&](VarId id) { found |= trace::is_from_outside(*data->tape, id); });
  }
  return found;
}

std::vector<at::Tensor> unwritten_tensors(const std::string& node) {
  const SessionLock data;
  std::vector<at::Tensor> found;
  const session::SessionNode* const open = data->nodes.find(node);
  if (open == nullptr || !open->pass.recorded) return found;
  const trace::Tape& tape = *open->pass.record.recording.tape;
  const std::int32_t first_call = open->pass.record.recording.first_call;
  for (trace::VarId id = 0; id < static_cast<trace::VarId>(tape.variable_count()); ++id) {
    const trace::Variable& variable = tape.variable(id);
    const bool is_outside =
        variable.origin == trace::Variable::Origin::kOutside && variable.store != kNoId;
    if (!is_outside || tape.store(variable.store).fresh) continue;
    if (tape.written_since(id, first_call)) continue;
    if (auto object = variable.impl.lock()) found.emplace_back(std::move(object));
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

void note_foreign(const at::Tensor& tensor, bool written, const std::string& left_at) {
  const trace::FrameRef frame = trace::capture_source();
  const SessionLock data;
  if (!data->tape) return;
  const VarId var = data->tape->use(tensor);
  session::BakedValue value{.var = var, .where = frame, .random = {}, .source = {}};
  value.foreign = session::ForeignValue{written, left_at};
  data->tape.baked.emplace(var, std::move(value));  // the first report is the most exact
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
