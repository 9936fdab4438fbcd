// Builds recorded passes from a few lines of text, for tests without a session.
//
//   tape_of({.passes = 3, .lines = {"h2 = mul(h, x)", "y = tanh(h2)", "h := h2", "return y"}})
// Each pass runs the lines on a new input `x`. A name that no line assigns is a tensor of the
// program: three ones, unless the World has another value. It persists from pass to pass. Lines:
//
//   y = mul(a, b)      an operator of ATen on tensors and numbers; copy_(a, b) writes in place
//   h := y             when the pass ends, the program's `h` becomes this tensor, or
//   h := new           three ones in new memory, or
//   h := other         something that no pass computed
//   state s            s is declared as state; "update s = y" is its update
//   buffer b           b is declared as a module's buffer
//   return y           an output
// "1: h = clone(x)" runs in the first pass only, "2+: ..." in the second one and all later ones.
#pragma once

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "session/record/node.h"
#include "trace/op_traits.h"

namespace leapp::testing {

struct Program {
  std::string name = "policy";
  int passes = 1;
  std::vector<std::string> lines = {};
};

inline session::NodePort port(const std::string& name, const Shape& shape = {}) {
  session::NodePort made;
  made.name = name;
  made.shape = shape;
  return made;
}

/// Returns a node that ran without recording anything.
inline session::Node node_of(const std::string& name, trace::NodeId id, int completed = 1) {
  session::Node made;
  made.name = name;
  made.id = made.completion = id;
  made.completed = completed;
  return made;
}

/// Data that all nodes of a program share. Tapes keep it alive.
struct World {
  std::map<std::string, at::Tensor> tensors = {};
  trace::CaptureTable captures = {};
  std::map<const c10::StorageImpl*, session::MemoryUse::Writer> writers = {};
  /// The node and port that computed a tensor of the program; the port is empty if it is not an
  /// output.
  struct NodeResult {
    at::Tensor tensor;
    session::PortId source;
    int pass = 0;
  };
  std::vector<NodeResult> results = {};
  std::vector<at::Tensor> renewed = {};  ///< tensors that `new` created
  trace::NodeId nodes = 0;
  double others = 10;  ///< the next value of `other`
};

/// One node; its passes are added one by one.
class NodeWriter {
 public:
  NodeWriter(std::shared_ptr<World> world, Program program)
      : world_(std::move(world)), program_(std::move(program)) {
    node = node_of(program_.name, world_->nodes++, 0);
    node.inputs.push_back(port("x", {3}));
    for (int i = 0; i < program_.passes; ++i) run();
  }

  /// Adds a pass.
  void run() {
    number_ = static_cast<int>(node.passes.size()) + 1;
    tape_ = std::shared_ptr<trace::Tape>(new trace::Tape(world_->captures),
                                         [world = world_](trace::Tape* tape) { delete tape; });
    pass_ = {};
    pass_.recording.tape = tape_;
    names_.emplace_back();
    pass_.opened_at = {"program.py", -100};
    const at::Tensor x = at::full({3}, number_ - 0.5);
    locals_ = {{"x", x}};
    pass_.recording.inputs.push_back({"x", named(tape_->add_input(x, node.id), "x")});
    pass_.inputs.push_back(x.clone());
    for (const std::string& line : program_.lines) run_line(line);
    finish();
  }

  /// Returns the variable of a name in a pass.
  trace::VarId var(const std::string& name, std::size_t pass = 0) const {
    for (const auto& [id, known] : names_.at(pass)) {
      if (known == name) return id;
    }
    return trace::kNoId;
  }
  /// Returns the name of a variable, or "?".
  std::string name(trace::VarId id, std::size_t pass = 0) const {
    const auto it = names_.at(pass).find(id);
    return it == names_.at(pass).end() ? "?" : it->second;
  }

  session::Node node = {};

 private:
  trace::VarId named(trace::VarId id, const std::string& name) {
    names_.back().try_emplace(id, name);
    return id;
  }

  at::Tensor look_up(const std::string& name) {
    const auto local = locals_.find(name);
    if (local != locals_.end()) return local->second;
    return world_->tensors.try_emplace(name, at::ones({3})).first->second;
  }
  trace::VarId use(const std::string& name) { return named(tape_->use(look_up(name)), name); }

  // Returns whether a line applies to this pass; removes "1: " or "2+: " from its start.
  bool is_for_this_pass(std::string& line) const {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) return true;
    const int first = std::stoi(line);
    const bool and_later = line[colon - 1] == '+';
    line = line.substr(colon + 2);
    return and_later ? number_ >= first : number_ == first;
  }

  void run_line(std::string line) {
    if (!is_for_this_pass(line)) return;
    std::istringstream words(line);
    std::string first, second, third, fourth;
    words >> first >> second >> third >> fourth;
    if (first == "return") {
      add_output(second);
    } else if (first == "state") {
      const at::Tensor now = look_up(second);
      const trace::VarId before = named(tape_->add_input(now, node.id), second);
      pass_.states.push_back({second, before, trace::kNoId, now.clone(), {}});
    } else if (first == "update") {
      session::Declared& state = pass_.states.back();
      state.after = use(fourth);
      state.updated = look_up(fourth).clone();
      assigned_[second] = state.updated;
    } else if (first == "buffer") {
      pass_.buffers.push_back({second, use(second)});
    } else if (second == ":=") {
      if (third == "new") world_->renewed.push_back(at::ones({3}));
      assigned_[first] = third == "new"     ? world_->renewed.back()
                         : third == "other" ? at::full({3}, world_->others++)
                                            : look_up(third);
    } else if (second == "=") {
      const at::Tensor made = call(line.substr(line.find('=') + 2));
      named(*tape_->find(made), first);
      locals_[first] = made;
    } else {
      call(line);
    }
  }

  void add_output(const std::string& name) {
    const at::Tensor value = look_up(name);
    pass_.recording.outputs.push_back({name, use(name)});
    pass_.outputs.push_back(value.clone());
    if (node.outputs.size() < pass_.outputs.size()) {
      node.outputs.push_back(port(name, value.sizes().vec()));
    }
  }

  // Runs and records "mul(a, b)". cat() takes its tensors as a list.
  at::Tensor call(const std::string& text) {
    const std::string name = text.substr(0, text.find('('));
    std::string arguments = text.substr(name.size() + 1, text.size() - name.size() - 2);
    std::replace(arguments.begin(), arguments.end(), ',', ' ');
    std::vector<at::Tensor> tensors;
    std::vector<trace::VarId> vars;
    std::vector<c10::IValue> numbers;
    std::istringstream words(arguments);
    for (std::string word; words >> word;) {
      if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
        numbers.emplace_back(std::stod(word));
      } else {
        tensors.push_back(look_up(word));
        vars.push_back(use(word));
      }
    }
    const bool binary = name.starts_with("add") || name.starts_with("mul");
    const char* overload = !binary ? "" : numbers.empty() ? "Tensor" : "Scalar";
    const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + name).c_str(), overload);
    return record(op, tensors, vars, numbers);
  }

  at::Tensor record(const c10::OperatorHandle& op, const std::vector<at::Tensor>& tensors,
                    const std::vector<trace::VarId>& vars,
                    const std::vector<c10::IValue>& numbers) {
    const bool list = op.schema().name() == "aten::cat";
    const bool writes = trace::traits_of(op).writes.front();
    if (writes) world_->captures.before_write(tensors.front());
    const bool own = std::any_of(vars.begin(), vars.end(), [&](trace::VarId var) {
      return tape_->variable(var).node != trace::kNoId;
    });
    const trace::NodeId owner = own ? node.id : trace::kNoId;
    const int line = static_cast<int>(tape_->calls().size()) + 1;
    tape_->begin_call(op, {"program.py", -line}, owner);
    torch::jit::Stack stack;
    if (list) {
      stack.emplace_back(tensors);
      tape_->add_tensor_list(vars);
    } else {
      stack.assign(tensors.begin(), tensors.end());
      for (const trace::VarId var : vars) tape_->add_tensor(var);
    }
    const auto& declared = op.schema().arguments();
    for (std::size_t i = stack.size(), first = i; i < declared.size(); ++i) {
      stack.push_back(i - first < numbers.size()
                          ? numbers[i - first]
                          : declared[i].default_value().value_or(c10::IValue()));
      tape_->add_value(stack.back());
    }
    op.callBoxed(&stack);
    if (writes) tape_->note_write(vars.front(), owner);
    tape_->add_result(stack.front());
    return stack.front().toTensor();
  }

  // Stores the data that a session stores when a pass ends.
  void finish() {
    for (session::Declared& buffer : pass_.buffers) {
      const auto it = assigned_.find(buffer.name);
      const trace::VarId now = it == assigned_.end() ? buffer.before : tape_->use(it->second);
      if (now == buffer.before && !tape_->written_since(buffer.before, 0)) continue;
      buffer.after = now;
      buffer.updated = tape_->tensor(now);
    }
    record_memory();
    pass_.recording.end_call = static_cast<std::int32_t>(tape_->calls().size());
    record_outside();
    const std::map<std::string, at::Tensor> locals = std::exchange(locals_, {});
    for (const auto& [name, value] : assigned_) world_->tensors[name] = value;
    note_kept(locals);
    for (const session::MemoryUse& use : pass_.memory) {
      if (!use.after) continue;
      world_->writers[use.left.storage().unsafeGetStorageImpl()] = {node.id, node.passes.size()};
    }
    assigned_.clear();
    node.passes.push_back(std::move(pass_));
    ++node.completed;
  }

  void add_memory(trace::VarId var, const std::string& declared, const at::Tensor& left) {
    session::MemoryUse use;
    use.declared = declared;
    use.var = var;
    use.found = tape_->variable(var).held;
    use.before = tape_->store(tape_->variable(var).store).capture;
    use.left = left;
    if (left.defined()) use.after = world_->captures.capture(left);
    if (use.before) use.writer = writer_of(use.found);
    pass_.memory.push_back(std::move(use));
  }

  void record_memory() {
    for (const std::vector<session::Declared>* declared : {&pass_.states, &pass_.buffers}) {
      for (const session::Declared& each : *declared) {
        if (each.after != trace::kNoId) add_memory(each.before, each.name, each.updated);
      }
    }
    for_each_read([&](trace::VarId var) {
      const trace::StoreId id = tape_->variable(var).store;
      const trace::VarId root = tape_->store(id).variables.front();
      const at::Tensor held = tape_->variable(root).held;
      if (!tape_->store(id).capture || pass_.find_memory(root) != nullptr) return;
      const bool written = tape_->store(id).last_write >= 0;
      if (node.complete() && !written && !writer_of(held)) return;
      add_memory(root, "", written ? held : at::Tensor());
    });
  }

  void record_outside() {
    for_each_read([&](trace::VarId var) {
      if (!trace::is_from_outside(*tape_, var) || pass_.find_outside(var) != nullptr) return;
      const trace::Variable& variable = tape_->variable(var);
      session::OutsideRead read;
      read.var = var;
      read.writer = writer_of(tape_->tensor(var));
      read.made_since = std::any_of(
          world_->renewed.begin(), world_->renewed.end(),
          [&](const at::Tensor& tensor) { return tensor.is_alias_of(tape_->tensor(var)); });
      for (const auto& [tensor, source, number] : world_->results) {
        if (tensor.unsafeGetTensorImpl() != variable.impl._unsafe_get_target()) continue;
        read.from = source.node;
        if (!source.port.empty()) read.source = source;
        read.source_pass = number;
      }
      for (const session::Pass& former : node.passes) {
        read.known.push_back(
            former.recording.tape->match(variable.impl._unsafe_get_target(), tape_->tensor(var)));
      }
      const auto by_var = [](const auto& a, const auto& b) { return a.var < b.var; };
      pass_.outside.insert(
          std::upper_bound(pass_.outside.begin(), pass_.outside.end(), read, by_var), read);
    });
  }

  // Stores the tensors of the pass that the program still holds.
  void note_kept(const std::map<std::string, at::Tensor>& locals) {
    for (const auto& [name, local] : locals) {
      const auto is_it = [&](const auto& entry) { return entry.second.is_same(local); };
      trace::Variable& variable = tape_->variable(*tape_->find(local));
      if (variable.origin != trace::Variable::Origin::kResult) continue;
      variable.survives = std::any_of(world_->tensors.begin(), world_->tensors.end(), is_it);
      if (!variable.survives || variable.node != node.id) continue;
      const bool output = find_port(node.outputs, name) != nullptr;
      world_->results.push_back({local, {node.id, output ? name : ""}, number_ - 1});
    }
  }

  std::optional<session::MemoryUse::Writer> writer_of(const at::Tensor& tensor) const {
    const auto it = world_->writers.find(tensor.storage().unsafeGetStorageImpl());
    return it == world_->writers.end() ? std::nullopt : std::optional(it->second);
  }

  template <typename Visit>
  void for_each_read(Visit&& visit) {
    for (const trace::Call& each : tape_->calls()) trace::for_each_variable(*tape_, each, visit);
  }

  std::shared_ptr<World> world_;
  Program program_;
  int number_ = 0;  // of the pass, from 1
  std::shared_ptr<trace::Tape> tape_;
  session::Pass pass_;
  std::map<std::string, at::Tensor> locals_;                // in the pass
  std::map<std::string, at::Tensor> assigned_;              // by the program, at the end
  std::vector<std::map<trace::VarId, std::string>> names_;  // by pass
};

/// Returns a program with one node.
inline NodeWriter tape_of(Program program) {
  return {std::make_shared<World>(), std::move(program)};
}

/// Returns a filter that starts with the first observation.
inline const std::vector<std::string> kFilter = {"1: h2 = tanh(x)", "2+: h2 = add(h, x)", "h := h2",
                                                 "return h2"};

}  // namespace leapp::testing
