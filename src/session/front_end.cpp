#include "session/front_end.h"

#include <algorithm>
#include <set>

#include "session/live.h"
#include "trace/sizes.h"

namespace leapp::front_end {
namespace {

using session::kNoId;
using session::Live;
using session::LiveNode;
using session::Lock;
using session::Pass;
using session::VarId;
using trace::memory_of;

bool follows(const Live& live, const at::Tensor& tensor) {
  return live.active() && (live.owner_of(tensor) != kNoId || live.tags.find(tensor));
}

// The first pass of a node, if there is one and its operators were recorded.
const Pass* recorded_pass(Live& live, const std::string& name) {
  const LiveNode* node = live.find(name);
  return node == nullptr || node->passes.empty() || !node->traced ? nullptr : &node->passes.front();
}

// The tensors that the program made outside of nodes and the pass used, and where.
std::vector<std::pair<at::Tensor, trace::FrameRef>> raw_constants(const Live& live,
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
      if (live.made.count(memory_of(variable.held)) == 0) return;
      if (live.tags.find(variable.held)) return;  // a node's value, which is named by itself
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
  return Live::instance().open.load(std::memory_order_acquire) > 0;
}

std::vector<std::string> open_nodes() {
  const Lock live;
  std::vector<std::string> names;
  for (const LiveNode& node : live->nodes) {
    if (node.pass.open) names.push_back(node.name);
  }
  return names;
}

int pass_of(const std::string& name) {
  const Lock live;
  const LiveNode* node = live->find(name);
  return node == nullptr ? 0 : node->completed + (node->pass.open ? 1 : 0);
}

void enter_function(const std::string& node) {
  Lock()->functions.push_back(node);
}

void leave_function(const std::string& node) {
  const Lock live;
  const auto last = std::find(live->functions.rbegin(), live->functions.rend(), node);
  if (last != live->functions.rend()) live->functions.erase(std::next(last).base());
}

bool is_traced(const at::Tensor& tensor) {
  return follows(*Lock(), tensor);
}

bool may_vary(const at::Tensor& tensor) {
  static const c10::OperatorName literal("aten::lift_fresh", "");  // torch.tensor(3)
  const Lock live;
  if (follows(*live, tensor)) return true;
  if (!live->may_be_known(tensor)) return false;
  const auto var = live->variable_of(tensor);
  if (!var || trace::is_from_outside(*live->tape, *var)) return true;
  // Not depends_on(): what is written out in the code comes from outside as well.
  bool found = false;
  for (const std::int32_t index : trace::slice(*live->tape, {*var})) {
    const trace::Call& call = live->tape->call(index);
    if (call.op.operator_name() == literal) continue;
    trace::for_each_variable(*live->tape, call,
                             [&](VarId id) { found |= trace::is_from_outside(*live->tape, id); });
  }
  return found;
}

std::vector<at::Tensor> outside_of(const at::Tensor& tensor) {
  const Lock live;
  std::vector<at::Tensor> found;
  if (!live->may_be_known(tensor)) return found;
  const auto var = live->variable_of(tensor);
  if (!var) return {tensor};
  std::set<trace::StoreId> seen = {kNoId};
  trace::depends_on(*live->tape, *var, [&](VarId id) {
    const trace::Variable& variable = live->tape->variable(id);
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
    const Lock live;
    if (const LiveNode* node = live->find(name)) frame = node->pass.made.opened_at;
  }
  return trace::resolve_source(frame).to_string();
}

std::vector<CodeIn> code_in(const std::string& name) {
  const Lock live;
  const Pass* pass = recorded_pass(*live, name);
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
    const Lock live;
    if (const Pass* pass = recorded_pass(*live, name)) found = raw_constants(*live, *pass);
  }
  std::vector<std::pair<at::Tensor, std::string>> with_places;
  for (auto& [tensor, frame] : found) {
    with_places.emplace_back(std::move(tensor), trace::resolve_source(frame).to_string());
  }
  return with_places;
}

bool was_input(const at::Tensor& tensor) {
  return Lock()->is_input(tensor);
}

bool was_declared(const at::Tensor& tensor) {
  const Lock live;
  const auto is_it = [&](const at::Tensor& declared) { return declared.is_same(tensor); };
  return std::ranges::any_of(
      live->nodes, [&](const LiveNode& node) { return std::ranges::any_of(node.declared, is_it); });
}

bool was_read(const at::Tensor& tensor) {
  const Lock live;
  const c10::StorageImpl* memory = memory_of(tensor);
  return memory != nullptr && std::ranges::any_of(live->nodes, [&](const LiveNode& node) {
           return std::ranges::any_of(node.passes, [&](const Pass& pass) {
             return has_read(pass, &pass == &node.passes.front(), memory);
           });
         });
}

void await_ends() {
  const Lock live;
  for (LiveNode& node : live->nodes) node.pass.awaited = node.pass.open;
}

void note_made(const at::Tensor& tensor) {
  Lock()->note_made(tensor);
}

void note_size(const at::Tensor& tensor) {
  if (!Live::instance().sizes_vary) return;
  const trace::FrameRef frame = trace::capture_source();
  const Lock live;
  const auto var = live->variable_of(tensor);
  if (!var || live->tape->variable(*var).dynamic == 0) return;
  const session::NodeId owner = live->tape->variable(*var).node;
  live->warn(Code::kDataDependentSize, owner == kNoId ? "" : live->at(owner).name, trace::kSizeRead,
             frame);
}

void note_escape(const at::Tensor& tensor, Code code, const std::string& text) {
  const trace::FrameRef frame = trace::capture_source();
  const Lock live;
  if (!live->may_be_known(tensor)) return;
  const VarId var = live->tape->use(tensor);
  live->note_escape(var, live->tape->variable(var).node, frame, code, text);
}

at::Tensor pick(const at::Tensor& of, const std::vector<std::int64_t>& places,
                const std::vector<at::Tensor>& numbers) {
  at::Tensor copy = trace::take(of, places, numbers);
  const Lock live;
  if (live->tape && live->tape->find(copy) && of.has_storage()) {
    live->picks.add(*live->tape, {copy, of, places, numbers});
    live->picking = true;
  }
  return copy;
}

void put_back(const at::Tensor& copy, const at::Tensor& of,
              const std::vector<at::Tensor>& numbers) {
  const Lock live;
  trace::Picks::Pick* pick = live->picks.find(copy, of, numbers);
  if (pick != nullptr) trace::Picks::agree(*live->tape, *pick);
}

void diagnose(Diagnostic diagnostic) {
  if (diagnostic.where.empty()) {
    diagnostic.where = trace::resolve_source(trace::capture_source()).to_string();
  }
  Live::instance().diagnostics().add(std::move(diagnostic));
}

}  // namespace leapp::front_end
