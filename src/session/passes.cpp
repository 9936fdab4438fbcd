#include "session/passes.h"

#include <algorithm>

namespace leapp::session {
namespace {

bool gives_an_input_again(const SessionNode& node, const NamedTensors& inputs,
                          trace::FrameRef frame) {
  const auto& places = node.pass.input_places;
  return std::ranges::any_of(inputs, [&](const TensorSemantics& entry) {
    const auto place = places.find(entry.name);
    return place != places.end() && place->second == frame;
  });
}

void drop_interrupted_pass(SessionData& data, SessionNode& node, trace::FrameRef frame) {
  data.messages.warn(Code::kIncomplete, node.name,
                     "pass " + std::to_string(node.completed + 1) + " of node '" + node.name +
                         "' was begun here but not completed, so LEAPP dropped it. If an exception "
                         "can interrupt the node, call annotate.abandon('" +
                         node.name + "').",
                     frame);
  drop_pass(data, node);
}

// Passes of one node in a row, without another node between them, count as one up to this number
// of passes, so that the records show whole ticks of nodes at different rates.
constexpr int kMostPassesInTurns = 64;

bool is_recorded(const SessionData& data, const SessionNode& node) {
  if (!node.traced || node.completed <= data.options.max_cached_io) return node.traced;
  if (!node.played.empty()) return true;
  if (data.nodes.size() < 2 || node.completed >= kMostPassesInTurns) return false;
  const bool begins_turn = data.runs.empty() || data.runs.back().node != node.id;
  return node.turns + (begins_turn ? 1 : 0) <= data.options.max_cached_io + 1;
}

void begin_pass(SessionData& data, SessionNode& node, trace::FrameRef frame) {
  const bool recorded = is_recorded(data, node);
  data.nodes.open_pass(node, recorded, frame);
  if (!recorded) return;
  node.pass.record.recording.tape = data.tape.open(data.captures);
  node.pass.record.recording.first_call = data.tape->call_count();
}

// Detaches the node from the tape. Returns the results that the program still holds.
std::vector<at::Tensor> release_variables(trace::Tape& tape, NodeId node) {
  std::vector<at::Tensor> computed;
  for (VarId id = 0; id < static_cast<VarId>(tape.variable_count()); ++id) {
    trace::Variable& variable = tape.variable(id);
    if (variable.node != node) continue;
    variable.node = kNoId;
    if (variable.origin != trace::Variable::Origin::kResult) continue;
    if (auto object = variable.impl.lock()) computed.emplace_back(std::move(object));
  }
  for (trace::StoreId id = 0; id < static_cast<trace::StoreId>(tape.store_count()); ++id) {
    if (tape.store(id).node == node) tape.store(id).node = kNoId;
  }
  return computed;
}

}  // namespace

bool begin_pass_if_needed(SessionData& data, SessionNode& node, const NamedTensors& inputs,
                          trace::FrameRef frame) {
  const bool own_thread = node.pass.thread == std::this_thread::get_id();
  if (node.pass.open && own_thread && gives_an_input_again(node, inputs, frame)) {
    drop_interrupted_pass(data, node, frame);
  }
  if (node.pass.open) return false;
  begin_pass(data, node, frame);
  return true;
}

std::vector<at::Tensor> end_pass(SessionData& data, SessionNode& node) {
  if (!node.pass.open) return {};
  for (const at::Tensor& handle : node.pass.handles) data.tags.leave(handle);
  const bool recorded = node.pass.recorded;
  data.nodes.close_pass(node);
  if (!recorded) return {};
  std::vector<at::Tensor> computed = release_variables(*data.tape, node.id);
  if (data.nodes.recorded_passes() == 0) data.tape.close();
  return computed;
}

void drop_pass(SessionData& data, SessionNode& node) {
  end_pass(data, node);
  if (node.complete()) return;
  node.inputs.clear();
  node.outputs.clear();
  node.states.clear();
}

bool depends_on_state(const OpenTape& tape, const SessionNode& node, VarId var) {
  return trace::depends_on(*tape, var, [&](VarId id) {
    return trace::root_outside(*tape, id) != kNoId && node.pass.record.writes(id);
  });
}

void note_escape(SessionData& data, VarId var, NodeId owner, trace::FrameRef frame, Code code,
                 const std::string& text) {
  if (owner != kNoId) {
    data.nodes.at(owner).read_values = true;
    data.messages.warn(code, data.nodes.at(owner).name, text, frame);
    return;
  }
  for (SessionNode& node : data.nodes) {
    if (node.pass.recorded) node.pass.record.escapes.push_back({var, frame, code, text});
  }
}

}  // namespace leapp::session
