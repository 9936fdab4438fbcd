#include "shadow/shadow_text.h"

#include <cstdio>

namespace leapp::shadow {
namespace {

std::string error_text(const Comparison& comparison) {
  if (comparison.verdict == Comparison::Verdict::kShape ||
      comparison.verdict == Comparison::Verdict::kDType) {
    return std::string(name_of(comparison.traced.dtype)) + " " +
           leapp::to_string(comparison.traced.shape) + " in the program, " +
           std::string(name_of(comparison.exported.dtype)) + " " +
           leapp::to_string(comparison.exported.shape) + " in the bundle";
  }
  const DifferenceSummary& difference = comparison.difference;
  char text[160];
  if (difference.compared == 0 || comparison.verdict == Comparison::Verdict::kNonFinite) {
    std::snprintf(text, sizeof(text), "NaN or infinity at different indices");
    return text;
  }
  std::snprintf(text, sizeof(text), "error %.3e at %s, %.6g in the program and %.6g in the bundle",
                difference.max, leapp::to_string(difference.worst_index).c_str(),
                difference.worst_traced, difference.worst_exported);
  return text;
}

}  // namespace

std::string output_text(std::uint64_t tick) {
  return std::string(
             "the outputs of the program and the bundle differ. A value that was constant while "
             "tracing, such as a counter, a branch, a clock or an undeclared tensor, varies now. "
             "Declare it as an input or state, and use torch.where() for choices") +
         (tick == 1 ? ". If the program has state from before this run, reset it first" : "");
}

std::string state_text(const std::string& port) {
  return "the program set the state '" + port +
         "' to a value that differs from the previous tick. If this is intended, also call "
         "InferenceManager.set_input_value() on the robot";
}

std::string wire_text(const std::string& port, const std::string& source) {
  return "the program passed a different '" + port + "' than " + source +
         " returned, which the bundle's wire carries. The program changes the value between the "
         "nodes. Move that computation into a node";
}

std::string misfit_text() {
  return "the program passed a shape or type that differs from the model. The trace fixes all "
         "sizes";
}

std::string schedule_text(const std::string& node, bool ran) {
  return "node '" + node + "': the program " + (ran ? "ran it" : "did not run it") +
         " in a tick in which the bundle's schedule " + (ran ? "does not" : "does") +
         ". If the program began an episode, call reset() of the shadow run there. Otherwise trace "
         "more ticks, or state the schedule with leapp.start(schedule=..).";
}

std::string difference_text(const std::string& node, const ShadowDifference& difference,
                            const std::string& what) {
  return "node '" + node + "', '" + difference.port + "', tick " + std::to_string(difference.tick) +
         " of the shadow run: " + error_text(difference.comparison) + " (" +
         leapp::to_string(difference.comparison.tolerance) + "): " + what + ".";
}

std::string reset_text(const ShadowNodeReport& node) {
  return "node '" + node.node + "', tick " + std::to_string(node.ticks) +
         " of the shadow run: the outputs agree only if the node's state is reset, so LEAPP "
         "assumes that the program reset it. If it did, call reset() of the shadow run there, and "
         "InferenceManager.reset() on the robot. Otherwise the node does something in this tick "
         "that its model does not do.";
}

std::string missing_text(const ShadowNode& node, std::size_t input) {
  return "the program does not pass its input '" + node.model().inputs[input].name + "'";
}

}  // namespace leapp::shadow
