// Session's half that answers front ends.
#include <algorithm>
#include <set>

#include "session/session.h"
#include "session/session_internal.h"
#include "session/sizes.h"

namespace leapp::session {
namespace {

using trace::memory_of;

bool is_outside(const trace::Tape& tape, VarId var) {
  return tape.variable(var).origin == trace::Variable::Origin::kOutside;
}

// A tensor that was there before the pass: its value may be another one in the next.
bool is_programs(const trace::Tape& tape, VarId var) {
  const trace::StoreId store = tape.variable(var).store;
  return is_outside(tape, var) && (store == kNobody || !tape.store(store).fresh);
}

}  // namespace

std::string escape_text(const std::string& op, trace::Escape escape) {
  if (escape == trace::Escape::kBranch) {
    return op +
           " turns a traced tensor into True or False: the branch taken now is the only one "
           "that is exported. Use torch.where() to keep the choice in the model.";
  }
  return op +
         " turns a traced tensor into a number: whatever is computed from it is exported as a "
         "constant. Keep it a tensor to keep it in the model.";
}

Code escape_code(trace::Escape escape) {
  return escape == trace::Escape::kBranch ? Code::kBranch : Code::kNumber;
}

std::vector<std::string> Session::open_nodes() {
  const Lock lock(*this);
  std::vector<std::string> names;
  for (const LiveNode& node : nodes_) {
    if (node.pass.open) names.push_back(node.name);
  }
  return names;
}

int Session::pass_of(const std::string& name) {
  const Lock lock(*this);
  const LiveNode* node = find(name);
  return node == nullptr ? 0 : node->completed + (node->pass.open ? 1 : 0);
}

bool Session::is_traced(const at::Tensor& tensor) {
  const Lock lock(*this);
  if (!active() || !tensor.defined() || trace::is_wrapped(tensor)) return false;
  const auto var = tape_ ? tape_->find(tensor) : std::nullopt;
  if (var && tape_->variable(*var).node != kNobody) return true;
  return tags_.find(tensor).has_value();
}

bool Session::may_vary(const at::Tensor& tensor) {
  if (is_traced(tensor)) return true;
  static const c10::OperatorName literal("aten::lift_fresh", "");  // torch.tensor(3)
  const Lock lock(*this);
  if (!tape_ || recording_ == 0 || !tensor.defined() || trace::is_wrapped(tensor)) return false;
  const auto var = tape_->find(tensor);
  if (!var || is_programs(*tape_, *var)) return true;
  // Not depends_on(): what is written out in the code comes from outside as well.
  for (const std::int32_t index : trace::slice(*tape_, {*var})) {
    const trace::Call& call = tape_->calls()[static_cast<std::size_t>(index)];
    if (call.op.operator_name() == literal) continue;
    bool found = false;
    trace::for_each_variable(*tape_, call, [&](VarId id) { found |= is_programs(*tape_, id); });
    if (found) return true;
  }
  return false;
}

std::vector<at::Tensor> Session::outside_of(const at::Tensor& tensor) {
  const Lock lock(*this);
  std::vector<at::Tensor> found;
  if (!tape_ || !tensor.defined() || trace::is_wrapped(tensor)) return found;
  const auto var = tape_->find(tensor);
  if (!var) return {tensor};
  std::set<trace::StoreId> seen = {kNobody};
  trace::depends_on(*tape_, *var, [&](VarId id) {
    const trace::Variable& variable = tape_->variable(id);
    if (is_outside(*tape_, id) && seen.insert(variable.store).second) {
      found.push_back(variable.held);
    }
    return false;
  });
  return found;
}

std::string Session::opened_at(const std::string& name) {
  trace::FrameRef frame;
  {
    const Lock lock(*this);
    const LiveNode* node = find(name);
    if (node != nullptr) frame = node->pass.opened_at;
  }
  return trace::resolve_source(frame).to_string();
}

std::vector<const void*> Session::code_in(const std::string& name) {
  const Lock lock(*this);
  const LiveNode* node = find(name);
  if (node == nullptr || node->passes.empty() || !node->traced) return {};
  std::set<const void*> found;
  const auto add = [&](trace::FrameRef frame) {
    if (frame.code != nullptr && frame.position >= 0) found.insert(frame.code);  // not C++
  };
  const Pass& pass = node->passes.front();
  add(pass.opened_at);
  for (std::int32_t i = pass.recording.first_call; i < pass.recording.end_call; ++i) {
    add(pass.tape().calls()[static_cast<std::size_t>(i)].frame);
  }
  return {found.begin(), found.end()};
}

std::vector<std::pair<at::Tensor, std::string>> Session::raw_constants_of(const std::string& name) {
  std::vector<std::pair<at::Tensor, trace::FrameRef>> found;
  {
    const Lock lock(*this);
    const LiveNode* node = find(name);
    if (node == nullptr || node->passes.empty() || !node->traced) return {};
    const Pass& pass = node->passes.front();
    const trace::Tape& tape = pass.tape();
    std::vector<VarId> roots;
    for (const trace::Recording::Port& output : pass.recording.outputs) {
      roots.push_back(output.var);
    }
    std::set<trace::StoreId> seen = {kNobody};
    for (const MemoryUse& use : pass.memory) {
      if (use.after || !use.declared.empty()) seen.insert(tape.variable(use.var).store);
    }
    for (const std::int32_t index : trace::slice(tape, roots)) {
      const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
      trace::for_each_variable(tape, call, [&](VarId var) {
        const trace::Variable& variable = tape.variable(var);
        if (!is_programs(tape, var) || !seen.insert(variable.store).second) return;
        if (made_.count(memory_of(variable.held)) == 0) return;
        if (tags_.find(variable.held)) return;  // a node's value, which is named by itself
        found.emplace_back(variable.held, call.frame);
      });
    }
  }
  std::vector<std::pair<at::Tensor, std::string>> with_places;
  for (auto& [tensor, frame] : found) {
    with_places.emplace_back(std::move(tensor), trace::resolve_source(frame).to_string());
  }
  return with_places;
}

bool Session::was_input(const at::Tensor& tensor) {
  const Lock lock(*this);
  return is_input(tensor);
}

bool Session::was_declared(const at::Tensor& tensor) {
  const Lock lock(*this);
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const LiveNode& node) {
    return std::any_of(node.declared.begin(), node.declared.end(),
                       [&](const at::Tensor& declared) { return declared.is_same(tensor); });
  });
}

bool Session::was_read(const at::Tensor& tensor) {
  const Lock lock(*this);
  const c10::StorageImpl* memory = memory_of(tensor);
  if (memory == nullptr) return false;
  for (const LiveNode& node : nodes_) {
    for (const Pass& pass : node.passes) {
      for (const OutsideRead& read : pass.outside) {
        if (memory_of(pass.tape().variable(read.var).held) == memory) return true;
      }
      for (const MemoryUse& use : pass.memory) {
        if (memory_of(use.found) == memory) return true;
      }
      if (&pass == &node.passes.front()) continue;
      for (const trace::Recording::Port& input : pass.recording.inputs) {
        if (memory_of(pass.tape().tensor(input.var)) == memory) return true;
      }
    }
  }
  return false;
}

void Session::note_escape(const at::Tensor& tensor, Code code, const std::string& what) {
  const trace::FrameRef frame = trace::capture_source();
  const Lock lock(*this);
  if (!tape_ || !tensor.defined() || trace::is_wrapped(tensor) || recording_ == 0) return;
  const VarId var = tape_->use(tensor);
  const NodeId owner = tape_->variable(var).node;
  if (owner == kNobody) {
    escapes_.push_back(
        {{var, frame, code, what}, static_cast<std::int32_t>(tape_->calls().size())});
    return;
  }
  node_at(owner).read_values = true;
  warn(code, node_at(owner).name, what, frame);
}

void Session::note_size(const at::Tensor& tensor) {
  if (!sizes_vary_) return;
  const trace::FrameRef frame = trace::capture_source();
  const Lock lock(*this);
  if (!tape_ || !tensor.defined() || trace::is_wrapped(tensor)) return;
  const auto var = tape_->find(tensor);
  if (!var || tape_->variable(*var).varying == 0) return;
  const NodeId owner = tape_->variable(*var).node;
  warn(Code::kDataDependentSize, owner == kNobody ? "" : node_at(owner).name, kSizeRead, frame);
}

void Session::note_made(const at::Tensor& tensor) {
  constexpr std::size_t kMany = 4096;
  const Lock lock(*this);
  if (!active() || !tensor.has_storage()) return;
  if (made_.size() >= kMany) {
    std::erase_if(made_, [](const auto& entry) { return entry.second.storage.expired(); });
    if (made_.size() >= kMany) return;  // a program that keeps so much is not short of names
  }
  const c10::Storage& storage = tensor.storage();
  made_.insert_or_assign(
      storage.unsafeGetStorageImpl(),
      Made{c10::weak_intrusive_ptr<c10::StorageImpl>(storage.getWeakStorageImpl()), passes_});
}

}  // namespace leapp::session
