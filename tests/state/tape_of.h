// Recorded passes out of a few lines of text, for tests that want values and no session.
//
//   tape_of({.passes = 3, .lines = {"h2 = mul(h, x)", "y = tanh(h2)", "h := h2", "return y"}})
//
// Each pass runs the lines on an input `x` of its own. A name that no line has made yet is a tensor
// of the program's, of three ones unless `start` says otherwise; it lives on from pass to pass, as
// `name := other` makes it another. `copy_(name, value)` writes in place. Lines that begin with
// "1:" run in the first pass only, those with "2+:" in all others.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "session/record/node.h"
#include "trace/capture.h"

namespace leapp::testing {

struct Program {
  std::string name = "policy";
  int passes = 1;
  std::vector<std::string> lines = {};
  std::map<std::string, at::Tensor> start = {};
};

class TapeWriter {
 public:
  explicit TapeWriter(Program program) : program_(std::move(program)), world_(program_.start) {}

  /// The node; the writer keeps the program's tensors, and must outlive what is asked of them.
  session::Node write() {
    node_.name = program_.name;
    node_.id = 0;
    node_.completion = 0;
    node_.inputs.push_back({.name = "x", .shape = {3}});
    for (int pass = 0; pass < program_.passes; ++pass) write_pass(pass);
    return node_;
  }

  const at::Tensor& tensor(const std::string& name) { return world_.at(name); }

 private:
  void write_pass(int number) {
    tape_ = std::make_shared<trace::Tape>(captures_);
    locals_.clear();
    session::Pass pass;
    pass.recording.tape = tape_;
    const at::Tensor x = at::full({3}, 0.5 + number);
    locals_["x"] = x;
    pass.recording.inputs.push_back({"x", tape_->add_input(x, node_.id)});
    pass.inputs.push_back(x.clone());
    std::vector<std::pair<std::string, std::string>> assigned;
    for (std::string line : program_.lines) {
      if (line.starts_with("1:") && number > 0) continue;
      if (line.starts_with("2+:") && number == 0) continue;
      if (const auto colon = line.find(": "); colon < 3) line = line.substr(colon + 2);
      run(line, assigned, pass);
    }
    pass.recording.end_call = static_cast<std::int32_t>(tape_->calls().size());
    finish(pass);
    for (const auto& [name, value] : assigned) world_[name] = locals_.at(value);
    node_.passes.push_back(std::move(pass));
    ++node_.completed;
  }

  void run(const std::string& line, std::vector<std::pair<std::string, std::string>>& assigned,
           session::Pass& pass) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    words >> first >> second;
    if (first == "return") {
      const at::Tensor value = look_up(second);
      pass.recording.outputs.push_back({second, tape_->use(value)});
      pass.outputs.push_back(value.clone());
      if (node_.outputs.size() < pass.outputs.size()) {
        node_.outputs.push_back({.name = second, .shape = value.sizes().vec()});
      }
    } else if (second == ":=") {
      std::string value;
      words >> value;
      look_up(value);
      assigned.emplace_back(first, value);
    } else if (second == "=") {
      locals_[first] = call(line.substr(line.find('=') + 2));
    } else {
      call(line);
    }
  }

  at::Tensor look_up(const std::string& name) {
    const auto local = locals_.find(name);
    if (local != locals_.end()) return local->second;
    return world_.try_emplace(name, at::ones({3})).first->second;
  }

  // "add(a, b)": an operator of two tensors, "tanh(a)", "copy_(a, b)", "cat(a, b)".
  at::Tensor call(const std::string& text) {
    const std::string name = text.substr(0, text.find('('));
    std::string arguments = text.substr(name.size() + 1, text.size() - name.size() - 2);
    for (char& letter : arguments) letter = letter == ',' ? ' ' : letter;
    std::istringstream words(arguments);
    std::vector<at::Tensor> given;
    for (std::string word; words >> word;) given.push_back(look_up(word));
    const bool list = name == "cat";
    const std::string overload = name == "add" || name == "mul" || name == "sub" ? "Tensor" : "";
    const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + name).c_str(), overload.c_str());
    std::vector<trace::VarId> vars;
    NodeIdOf owner;
    for (const at::Tensor& tensor : given) {
      vars.push_back(tape_->use(tensor));
      if (tape_->variable(vars.back()).node != trace::kNobody) owner.node = node_.id;
    }
    const bool writes = name.ends_with('_');
    if (writes) captures_.before_write(given.front());
    torch::jit::Stack stack;
    if (list) {
      stack.emplace_back(given);
    } else {
      for (const at::Tensor& tensor : given) stack.emplace_back(tensor);
    }
    const auto& declared = op.schema().arguments();
    for (std::size_t i = stack.size(); i < declared.size(); ++i) {
      stack.push_back(declared[i].default_value().value_or(c10::IValue()));
    }
    const torch::jit::Stack rest(stack.begin() + (list ? 1 : std::ssize(given)), stack.end());
    op.callBoxed(&stack);
    tape_->begin_call(op, {"program.py", static_cast<int>(tape_->calls().size()) + 1}, owner.node);
    if (list) {
      tape_->add_tensor_list(vars);
    } else {
      for (const trace::VarId var : vars) tape_->add_tensor(var);
    }
    for (const c10::IValue& value : rest) tape_->add_value(value);
    if (writes) tape_->note_write(vars.front(), owner.node);
    tape_->add_result(stack.front().toTensor());
    return stack.front().toTensor();
  }

  // What a session records of memory and of earlier passes.
  void finish(session::Pass& pass) {
    std::vector<bool> seen(tape_->variable_count(), false);
    std::vector<bool> stores(tape_->store_count(), false);
    for (const trace::Call& each : tape_->calls()) {
      trace::for_each_variable(*tape_, each, [&](trace::VarId var) {
        if (seen[static_cast<std::size_t>(var)] || !trace::is_from_outside(*tape_, var)) return;
        seen[static_cast<std::size_t>(var)] = true;
        const trace::Variable& variable = tape_->variable(var);
        session::OutsideRead read;
        read.var = var;
        for (const session::Pass& former : node_.passes) {
          read.known.push_back(
              former.recording.tape->match(variable.impl._unsafe_get_target(), variable.held));
        }
        pass.outside.push_back(read);
        const trace::Store& store = tape_->store(variable.store);
        if (stores[static_cast<std::size_t>(variable.store)]) return;
        stores[static_cast<std::size_t>(variable.store)] = true;
        session::MemoryUse use;
        use.var = var;
        use.found = variable.held;
        use.before = store.capture;
        if (store.last_write >= 0) {
          use.left = variable.held;
          use.after = captures_.capture(use.left);
        }
        pass.memory.push_back(use);
      });
      trace::for_each_result(*tape_, each,
                             [&](trace::VarId var) { tape_->variable(var).survives = true; });
    }
  }

  struct NodeIdOf {
    trace::NodeId node = trace::kNobody;
  };

  Program program_;
  std::map<std::string, at::Tensor> world_;   // the program's, from pass to pass
  std::map<std::string, at::Tensor> locals_;  // of a pass
  trace::CaptureTable captures_;
  std::shared_ptr<trace::Tape> tape_;
  session::Node node_;
};

/// For programs whose tensors nobody asks for afterwards.
inline session::Node tape_of(Program program) {
  static std::vector<std::unique_ptr<TapeWriter>> writers;  // captures must outlive the tapes
  writers.push_back(std::make_unique<TapeWriter>(std::move(program)));
  return writers.back()->write();
}

}  // namespace leapp::testing
