// One tick of one node in a shadow run: sets its state, and compares its outputs.
#include <algorithm>
#include <cstdlib>

#include "bundle/noise_port.h"
#include "interop/convert.h"
#include "shadow/shadow_run.h"
#include "shadow/shadow_text.h"

namespace leapp::shadow {

bool ShadowRun::is_initial(const ShadowNode& node, std::size_t input,
                           const ConstTensorView& value) const {
  const Tensor* const initial = executor_.initial(node.at(input));
  return initial != nullptr && close(value, initial->view());
}

bool ShadowRun::close(const ConstTensorView& program, const ConstTensorView& bundle) const {
  return compare(program, bundle, tolerance_).passed();
}

// Keeps the bundle's own value of an annotated state, unless the program set a different one.
void ShadowRun::follow_state(ShadowNode& node, std::size_t input) {
  const Tensor* const own = executor_.carried(node.at(input));
  if (own == nullptr || node.lost || node.runs() == 0) return;
  const ConstTensorView shown = node.input(input).view();
  if (close(shown, own->view())) return node.set_input(input, *own);
  if (is_initial(node, input, shown)) {
    node.returned = true;
    return;
  }
  const std::string& port = node.model().inputs[input].name;
  ShadowDifference difference{.port = port, .tick = node.report.ticks};
  difference.comparison = compare_in_full(shown, own->view(), tolerance_);
  differ(node, std::move(difference), state_text(port));
}

// Compares an input from the program with the value that a wire carries.
void ShadowRun::check_wire(ShadowNode& node, std::size_t input) {
  const std::optional<Wiring::Source>& source = executor_.wiring().source_of(node.at(input));
  if (!source) return;
  const ShadowNode& from = nodes_[source->output.node];
  const bool has_schedule = executor_.wiring().has_schedule();
  const Tensor* const own = !has_schedule     ? executor_.output(source->output, source->runs_ago)
                            : from.runs() > 0 ? executor_.carried(node.at(input))
                                              : nullptr;
  const auto ticks = [](const ShadowNode& each) {
    return static_cast<std::int64_t>(each.report.ticks);
  };
  const bool same_rate =
      has_schedule || std::abs(ticks(from) - ticks(node)) <= 1;  // otherwise it ran alone
  if (own == nullptr || !from.agreed || from.lost || !same_rate) return;
  const ConstTensorView taken = node.input(input).view();
  if (close(taken, own->view())) return;
  if (is_initial(node, input, taken)) {
    node.returned = true;
    return;
  }
  const std::string& port = node.model().inputs[input].name;
  ShadowDifference difference{.port = port, .tick = node.report.ticks};
  difference.comparison = compare_in_full(taken, own->view(), tolerance_);
  const std::string name = to_string(output_ref(bundle_, source->output));
  differ(node, std::move(difference), wire_text(port, name));
}

// Sets every input. Returns false if the source of an undeclared state has no value yet.
bool ShadowRun::fill_state(ShadowNode& node) {
  bool known = true;
  for (std::size_t i = 0; i < node.given.size(); ++i) {
    if (executor_.is_fed_by_schedule(node.at(i))) continue;
    switch (node.given[i]) {
      case ShadowNode::Given::kInput:
        check_wire(node, i);
        break;
      case ShadowNode::Given::kState:
        follow_state(node, i);
        break;
      case ShadowNode::Given::kNothing: {
        const std::optional<Wiring::Source>& source = executor_.wiring().source_of(node.at(i));
        if (!source) {
          node.report.not_compared = is_noise(node.model().inputs[i])
                                         ? "its program draws noise, which is not observed"
                                         : missing_text(node, i);
        }
        const Tensor* const value = executor_.carried(node.at(i));
        known &= value != nullptr && !nodes_[source->output.node].lost;
        if (value != nullptr) node.set_input(i, *value);
        break;
      }
    }
  }
  return known;
}

// Sets the undeclared states to their initial values. Returns false if there are none.
bool ShadowRun::set_hidden_to_initial(ShadowNode& node) {
  bool any = false;
  for (std::size_t i = 0; i < node.given.size(); ++i) {
    const Tensor* const initial = executor_.initial(node.at(i));
    if (node.given[i] != ShadowNode::Given::kNothing || initial == nullptr) continue;
    node.set_input(i, *initial);
    any = true;
  }
  return any;
}

std::optional<ShadowDifference> ShadowRun::judge(const ShadowNode& node) const {
  for (const auto& [output, value] : node.expected()) {
    const ConstTensorView program = interop::view_of(value);
    const ConstTensorView bundle = node.result(output).view();
    if (close(program, bundle)) continue;
    ShadowDifference difference{.port = node.model().outputs[output].name,
                                .tick = node.report.ticks};
    difference.comparison = compare_in_full(program, bundle, tolerance_);
    return difference;
  }
  return std::nullopt;
}

// Returns whether the pass agrees after a reset of the undeclared states, which means that the
// program reset them.
bool ShadowRun::was_reset(ShadowNode& node) {
  if (reports_resets_ && !node.returned) return false;
  // Directly after a reset this would explain any difference.
  if (node.runs() < 2 && !node.returned && !node.lost) return false;
  if (!set_hidden_to_initial(node) || !node.run() || judge(node)) return false;
  ++node.report.resets;
  if (!node.returned) say(node, Code::kShadowReset, reset_text(node.report));
  node.forget_runs();
  node.lost = false;
  return node.run().ok();  // into the buffer that takes effect
}

bool ShadowRun::draws_random_numbers(ShadowNode& node) {
  std::vector<Tensor> once;
  for (std::size_t i = 0; i < node.model().outputs.size(); ++i) once.push_back(node.result(i));
  if (!node.run()) return false;
  for (std::size_t i = 0; i < once.size(); ++i) {
    if (once[i] != node.result(i)) return true;
  }
  return false;
}

void ShadowRun::step(ShadowNode& node) {
  ++node.report.ticks;
  if (!node.report.not_compared.empty()) return;
  if (node.misfit) {
    node.agreed = false;
    node.lost = true;
    node.differs = false;
    return differ(node, *std::exchange(node.misfit, {}), misfit_text());
  }
  node.differs = false;
  const bool known = fill_state(node);
  if (!node.report.not_compared.empty()) return;
  const Result<void> ran = node.run();
  if (!ran) {
    node.report.not_compared = std::string(ran.failure().message());
    return;
  }
  if (node.report.ticks == 1 && draws_random_numbers(node)) {
    node.report.not_compared = "its model draws random numbers";
    return;
  }
  std::optional<ShadowDifference> difference = judge(node);
  if ((difference || node.lost || !known) && was_reset(node)) difference.reset();
  node.agreed = !difference;
  if (node.lost || (!known && difference)) {
    ++node.report.unjudged;
  } else {
    ++node.report.compared;
    if (difference) {
      node.lost = std::any_of(node.given.begin(), node.given.end(), [](ShadowNode::Given given) {
        return given == ShadowNode::Given::kNothing;
      });
      differ(node, std::move(*difference), output_text(node.report.ticks));
    }
  }
  node.commit();
}

void ShadowRun::differ(ShadowNode& node, ShadowDifference difference, std::string text) {
  if (!std::exchange(node.differs, true)) ++node.report.differing;
  if (node.report.first) return;
  difference.text = difference_text(node.model().name, difference, text);
  say(node, Code::kShadowDiffers, difference.text);
  node.report.first = std::move(difference);
}

// The program ran the node in a tick in which the schedule does not, or the other way round.
void ShadowRun::differ_in_time(ShadowNode& node, bool ran) {
  if (!std::exchange(node.differs, true)) ++node.report.differing;
  if (node.report.first) return;
  ShadowDifference difference{.tick = node.report.ticks};
  difference.text = schedule_text(node.model().name, ran);
  say(node, Code::kShadowDiffers, difference.text);
  node.report.first = std::move(difference);
}

void ShadowRun::say(const ShadowNode& node, Code code, std::string text) {
  const auto index = static_cast<std::size_t>(&node - nodes_.data());
  remarks_.push_back({index, code, std::move(text), where_});
}

}  // namespace leapp::shadow
