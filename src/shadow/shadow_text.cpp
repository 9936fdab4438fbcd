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
    std::snprintf(text, sizeof(text), "NaN or infinity at different places");
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
             "the outputs of the program and the bundle differ. A value that was constant "
             "while tracing varies now: a counter, a branch, a clock, or a tensor that is neither "
             "input nor state. Make it an input or state, and choose with torch.where()") +
         (tick == 1 ? ". If the program has state from before this run, reset it first" : "");
}

std::string state_text(const std::string& port) {
  return "the program set the state '" + port +
         "' to another value than that of the previous tick. If this is intended, call "
         "InferenceManager.set_input_value() on the robot as well";
}

std::string wire_text(const std::string& port, const std::string& source) {
  return "the program passed another '" + port + "' than " + source +
         " returned, which is the value of the bundle's wire. Something between the nodes changes "
         "it: move that into a node";
}

std::string misfit_text() {
  return "the program passed another shape or type than the model has. Sizes are fixed by the "
         "trace";
}

std::string difference_text(const std::string& node, const ShadowDifference& difference,
                            const std::string& what) {
  return "node '" + node + "', '" + difference.port + "', tick " + std::to_string(difference.tick) +
         " of the shadow run: " + error_text(difference.comparison) + " (" +
         leapp::to_string(difference.comparison.tolerance) + "): " + what + ".";
}

std::string reset_text(const ShadowNodeReport& node) {
  return "node '" + node.node + "', tick " + std::to_string(node.ticks) +
         " of the shadow run: outputs agree once the node's state is at its initial values again, "
         "so the program was taken to have reset it. If it did, say so with reset() there, and "
         "call InferenceManager.reset() there on the robot; if it did not, the node does something "
         "in this tick that its model does not.";
}

std::string missing_text(const ShadowNode& node, std::size_t input) {
  return "the program does not hand over its input '" + node.model().inputs[input].name + "'";
}

}  // namespace leapp::shadow
