#include "build/schedule_text.h"

#include <utility>

#include "build/policy_text.h"

namespace leapp {
namespace {

std::string buffer(const std::string& member) {
  return "buffers." + member;
}

std::string copy(const std::string& to, const std::string& from) {
  return "std::memcpy(" + buffer(to) + ", " + buffer(from) + ", sizeof(" + buffer(to) + "));\n";
}

std::string pointer_list(const std::vector<std::string>& members, const std::string& type,
                         const std::string& name) {
  if (members.empty()) return "      " + type + "* " + name + " = nullptr;\n";
  std::string text = "      " + type + " " + name + "[] = {";
  for (std::size_t i = 0; i < members.size(); ++i)
    text += (i == 0 ? "" : ", ") + buffer(members[i]);
  return text + "};\n";
}

std::string at(const char* array, std::size_t node) {
  return std::string(array) + "[" + std::to_string(node) + "]";
}

}  // namespace

ScheduleText::ScheduleText(const Bundle& bundle, const Wiring& wiring, Members members,
                           UsedNames& names, const std::optional<NoiseText>& noise)
    : bundle_(bundle),
      wiring_(wiring),
      members_(std::move(members)),
      noise_(noise),
      nodes_(bundle.models.size()) {
  for (std::size_t node = 0; node < nodes_.size(); ++node) add_members(node, names);
}

void ScheduleText::add_members(std::size_t index, UsedNames& names) {
  const Timing& timing = wiring_.timing(index);
  Node& node = nodes_[index];
  for (const Timing::Carry& carry : timing.carry) {
    std::string& member = members_.inputs[index][carry.input];
    const std::string own = names.take(member + "_carried");
    node.carried.push_back({own, std::exchange(member, own)});
  }
  for (const std::size_t input : timing.on_change) {
    const std::string& member = members_.inputs[index][input];
    node.seen.push_back({names.take(member + "_seen"), member});
    node.former_seen.push_back({names.take(member + "_seen_before"), node.seen.back().to});
  }
  if (!timing.is_conditional()) return;
  for (const std::string& member : members_.outputs[index]) {
    node.former.push_back({names.take(member + "_before"), member});
  }
}

std::string ScheduleText::members() const {
  std::string text;
  for (const Node& node : nodes_) {
    for (const auto* copies : {&node.carried, &node.seen, &node.former_seen, &node.former}) {
      for (const Copy& each : *copies) {
        text += "  alignas(64) decltype(" + each.from + ") " + each.to + ";\n";
      }
    }
  }
  return text;
}

std::string ScheduleText::position() const {
  const std::string count = std::to_string(nodes_.size());
  std::string text =
      "// The position in the schedule: which tick is next, and when each node ran last, or -1.\n"
      "std::int64_t tick_number = 0;\n"
      "std::int64_t last_run[" +
      count + "];\nstd::int64_t last_run_before[" + count + "];\nbool ran[" + count +
      "];\n\nvoid begin(int node) {\n  ran[node] = true;\n  last_run_before[node] = "
      "last_run[node];\n  last_run[node] = tick_number;\n}\n\n"
      "// Restores the state from before this tick.\n"
      "const char* take_back(const char* what) {\n  for (int i = 0; i < " +
      count + "; ++i) {\n    if (ran[i]) last_run[i] = last_run_before[i];\n  }\n";
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.former.empty()) continue;
    text += "  if (" + at("ran", i) + ") {\n";
    for (const auto* copies : {&node.former, &node.former_seen}) {
      for (const Copy& each : *copies) text += "    " + copy(each.from, each.to);
    }
    text += "  }\n";
  }
  return text + "  return what;\n}\n\n";
}

std::string ScheduleText::reset() const {
  return "  tick_number = 0;\n  for (std::int64_t& tick : last_run) tick = -1;\n";
}

std::string ScheduleText::condition(std::size_t index) const {
  const Timing& timing = wiring_.timing(index);
  std::vector<std::string> all;
  const std::string phase = std::to_string(timing.phase);
  if (timing.phase != 0) all.push_back("tick_number >= " + phase);
  if (timing.every != 1) {
    all.push_back("(tick_number - " + phase + ") % " + std::to_string(timing.every) + " == 0");
  }
  if (timing.when) {
    const auto& members = timing.when->is_output ? members_.outputs : members_.inputs;
    all.push_back(buffer(members[timing.when->port.node][timing.when->port.port]) + "[0]");
  }
  if (!nodes_[index].seen.empty()) {
    std::string changed = "(" + at("last_run", index) + " < 0";
    for (const Copy& seen : nodes_[index].seen) {
      changed += " || std::memcmp(" + buffer(seen.to) + ", " + buffer(seen.from) + ", sizeof(" +
                 buffer(seen.to) + ")) != 0";
    }
    all.push_back(changed + ")");
  }
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "" : " && ") + each;
  return text.empty() ? "true" : text;
}

std::string ScheduleText::node_text(std::size_t position) const {
  const std::size_t index = wiring_.order()[position];
  const Timing& timing = wiring_.timing(index);
  const Node& node = nodes_[index];
  std::string text = "  if (" + condition(index) + ") {  // " +
                     cpp_name(bundle_.models[index].name) + "\n    begin(" + std::to_string(index) +
                     ");\n";
  for (const auto* copies : {&node.former, &node.former_seen, &node.seen, &node.carried}) {
    for (const Copy& each : *copies) text += "    " + copy(each.to, each.from);
  }
  for (const Timing::Age& age : timing.ages) {
    const std::string last = at("last_run", age.node);
    const Port& port = bundle_.models[index].inputs[age.input];
    const std::string type = port.dtype == DType::kInt32 ? "std::int32_t" : "std::int64_t";
    text += "    " + buffer(members_.inputs[index][age.input]) + "[0] = static_cast<" + type +
            ">(" + last + " < 0 ? -1 : tick_number - " + last + ");\n";
  }
  text += "    for (int turn = 0; turn < " + std::to_string(timing.repeat) + "; ++turn) {\n";
  for (std::size_t i = 0; i < timing.carry.size(); ++i) {
    text += "      if (turn > 0) " +
            copy(node.carried[i].to, members_.outputs[index][timing.carry[i].output]);
  }
  if (timing.index) {
    text += "      " + buffer(members_.inputs[index][*timing.index]) + "[0] = turn;\n";
  }
  if (noise_) {
    const std::string number = "tick_number * " + std::to_string(timing.repeat) + " + turn";
    text += noise_->draws(index, members_.inputs[index], number, "      ");
  }
  text += pointer_list(members_.inputs[index], "const void* const", "inputs") +
          pointer_list(members_.outputs[index], "void* const", "outputs");
  return text + "      if (const char* what = run(" + std::to_string(position) +
         ", inputs, outputs)) return take_back(what);\n    }\n  }\n";
}

std::string ScheduleText::feedback() const {
  std::string text;
  for (const Wiring::Connection& wire : wiring_.connections()) {
    if (!wire.last_tick) continue;
    // A carried input's member is its copy; its source is the member that the wire fills.
    std::string to = members_.inputs[wire.target.node][wire.target.port];
    for (const Copy& carried : nodes_[wire.target.node].carried) {
      if (carried.to == to) to = carried.from;
    }
    text += "  if (" + at("ran", wire.source.node) + ") " +
            copy(to, members_.outputs[wire.source.node][wire.source.port]);
  }
  return text.empty() ? text : "  // What the next tick reads.\n" + text;
}

std::string ScheduleText::tick() const {
  std::string text = "  for (bool& each : ran) each = false;\n";
  for (std::size_t i = 0; i < nodes_.size(); ++i) text += node_text(i);
  return text + feedback() + "  ++tick_number;\n";
}

}  // namespace leapp
