// The passes of a program, written as one line per pass, for tests of schedules.
//
//   ProgramRuns program;
//   program.add("plan", {"x"}, {"goal"});
//   program.run("plan", {"new"});
//
// What an input receives: "new" or "same" value from outside, "#3" the number 3 from outside,
// "plan/goal" the latest goal, "plan/goal-1" the one before.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "session/record/node_run.h"
#include "tape_of.h"

namespace leapp::testing {

class ProgramRuns {
 public:
  session::Node& add(const std::string& name, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
    session::Node& node =
        nodes_.emplace_back(node_of(name, static_cast<trace::NodeId>(nodes_.size()), 0));
    node.completion = -1;
    node.passes.emplace_back();
    for (const std::string& each : inputs) node.inputs.push_back(typed_port(each));
    for (const std::string& each : outputs) node.outputs.push_back(typed_port(each));
    return node;
  }

  /// Adds a pass; `numbers` are the values of its outputs that are bools or integers.
  void run(const std::string& name, const std::vector<std::string>& inputs,
           std::vector<std::optional<std::int64_t>> numbers = {}) {
    session::Node& node = find(name);
    session::NodeRun run{.node = node.id, .pass = node.completed};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      run.inputs.push_back(received(inputs[i], node));
      session::NodePort& port = node.inputs.at(i);
      if (!port.source) port.source = run.inputs.back().source;
      if (port.source && port.source == run.inputs.back().source) {
        port.age.add(run.inputs.back().read);
      }
    }
    run.numbers = std::move(numbers);
    run.numbers.resize(node.outputs.size());
    runs.push_back(std::move(run));
    if (node.completed++ == 0) node.completion = completed_++;
  }

  std::vector<const session::Node*> nodes() const {
    std::vector<const session::Node*> all;
    for (const session::Node& node : nodes_) all.push_back(&node);
    return all;
  }

  session::RunLog runs;

 private:
  // "flag" is a bool, "number" an int64; all others are float32.
  static session::NodePort typed_port(const std::string& name) {
    session::NodePort made = port(name, {1});
    if (name.starts_with("flag")) made.dtype = DType::kBool;
    if (name.starts_with("number")) made.dtype = DType::kInt64;
    return made;
  }

  session::Node& find(const std::string& name) {
    for (session::Node& node : nodes_) {
      if (node.name == name) return node;
    }
    throw std::invalid_argument("no node " + name);
  }

  session::NodeRun::Input received(const std::string& what, const session::Node& reader) {
    session::NodeRun::Input input;
    if (what == "new") input.is_unchanged = false;
    if (what.starts_with("#")) {
      input.number = std::stoi(what.substr(1));
      input.is_unchanged = false;
    }
    const std::size_t slash = what.find('/');
    if (slash == std::string::npos) return input;
    const session::Node& from = find(what.substr(0, slash));
    const std::size_t minus = what.find('-');
    const int back = minus == std::string::npos ? 0 : std::stoi(what.substr(minus + 1));
    input.source = session::PortId{from.id, what.substr(slash + 1, minus - slash - 1)};
    input.read = {reader.completed, from.completed - 1 - back, from.completed, {}};
    return input;
  }

  std::deque<session::Node> nodes_;
  int completed_ = 0;
};

/// Returns a planner in every n-th tick of a tracker.
inline ProgramRuns planner_and_tracker(int every, int ticks) {
  ProgramRuns program;
  program.add("planner", {"x"}, {"goal"});
  program.add("tracker", {"x", "goal"}, {"u"});
  for (int tick = 0; tick < ticks; ++tick) {
    if (tick % every == 0) program.run("planner", {"new"});
    program.run("tracker", {"new", "planner/goal"});
  }
  return program;
}

/// Returns an encoder, and a denoising step that runs several times on its own results.
inline ProgramRuns denoising(int steps, int ticks, bool counts = false) {
  ProgramRuns program;
  program.add("encoder", {"image"}, {"z"});
  program.add("denoise", {"x", "z", counts ? "number" : "t"}, {"x_out"});
  program.add("decoder", {"x"}, {"action"});
  for (int tick = 0; tick < ticks; ++tick) {
    program.run("encoder", {"new"});
    for (int step = 0; step < steps; ++step) {
      const std::string t = counts ? "#" + std::to_string(step) : "same";
      program.run("denoise", {step == 0 ? "new" : "denoise/x_out", "encoder/z", t});
    }
    program.run("decoder", {"denoise/x_out"});
  }
  return program;
}

}  // namespace leapp::testing
