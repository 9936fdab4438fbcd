// Short texts for states, for readable tables.
//
//   "carried h <- h2"         the pass reads it as h and leaves it as h2
//   "written h <- h"          memory
//   "carried ? <- #1"         not read; receives the value of state 1
//   "shared h <- nothing"     only read
//   "flag ? <- constant"
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "state/state.h"
#include "tape_of.h"

namespace leapp::testing {

inline std::string word_of(state::State::Origin origin) {
  static constexpr const char* kWords[] = {"explicit", "declared", "written", "shared",
                                           "carried",  "delayed",  "flag"};
  return kWords[static_cast<std::size_t>(origin)];
}

inline std::string told(const NodeWriter& writer, const state::State& state, std::size_t base = 0) {
  const trace::StateSlot& slot = state.slot;
  trace::VarId read = slot.before;
  if (!slot.sites.empty()) {
    read = trace::variable_at(writer.node.passes[base].tape(), slot.sites.front());
  }
  const std::string left = slot.after != trace::kNoId ? writer.name(slot.after, base)
                           : slot.same_as             ? "#" + std::to_string(*slot.same_as)
                           : slot.constant.defined()  ? "constant"
                                                      : "nothing";
  return word_of(state.origin) + " " + writer.name(read, base) + " <- " + left;
}

inline std::vector<std::string> told(const NodeWriter& writer,
                                     const std::vector<state::State>& states,
                                     std::size_t base = 0) {
  std::vector<std::string> lines;
  for (const state::State& state : states) lines.push_back(told(writer, state, base));
  return lines;
}

/// Returns the first element of each value, "-" for an unknown one.
inline std::string numbers(const std::vector<at::Tensor>& values) {
  std::ostringstream text;
  for (const at::Tensor& value : values) {
    if (text.tellp() > 0) text << " ";
    if (value.defined()) {
      text << value.flatten()[0].item<double>();
    } else {
      text << "-";
    }
  }
  return text.str();
}

/// Returns the value of a state before each pass.
inline std::string before(const state::State& state) {
  std::vector<at::Tensor> values;
  for (const state::State::Values& pass : state.per_pass) values.push_back(pass.before);
  return numbers(values);
}

/// Returns "LP302" for each finding.
inline std::vector<std::string> codes(const state::Findings& findings) {
  std::vector<std::string> found;
  for (const Diagnostic& each : findings) {
    found.push_back(to_string(each.code));
  }
  return found;
}

}  // namespace leapp::testing
