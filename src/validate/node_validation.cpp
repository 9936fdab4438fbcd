#include "validate/node_validation.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/log.h"

namespace leapp {
namespace {

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

}  // namespace

NodeValidation::NodeValidation(std::string node, std::vector<std::string> output_names,
                               Tolerance tolerance, std::string log_path)
    : node_(std::move(node)),
      output_names_(std::move(output_names)),
      tolerance_(tolerance),
      log_path_(std::move(log_path)) {}

void NodeValidation::add_sample(std::size_t sample, const std::vector<ConstTensorView>& traced,
                                const std::vector<ConstTensorView>& exported) {
  SampleOutcome& outcome = begin(sample);
  if (traced.size() != exported.size()) {
    outcome.error = "the exported model returns " + std::to_string(exported.size()) +
                    " outputs, expected " + std::to_string(traced.size());
    log(LogLevel::kInfo, node_ + " " + outcome.label + ": " + outcome.error);
    fail(sample);
    return;
  }
  largest_.resize(traced.size());
  for (std::size_t i = 0; i < traced.size(); ++i) {
    Comparison comparison =
        compare_in_full(traced[i], exported[i], tolerance_for(precisions_, i, tolerance_));
    largest_[i] = std::max(largest_[i], comparison.difference.max);
    elements_ += comparison.elements;
    nan_ += comparison.traced.nan;
    if (!comparison.passed()) {
      fail(sample);
      if (difference_.empty()) {
        difference_ = "'" + output_names_[i] + "' differs in pass " + std::to_string(sample + 1);
      }
    }
    if (!comparison.passed() || comparison.has_non_finite()) report(sample, i, comparison);
    outcome.outputs.push_back({name_of_output(i), std::move(comparison)});
  }
}

SampleOutcome& NodeValidation::begin(std::size_t sample) {
  return samples_.emplace_back(SampleOutcome{.label = "sample " + std::to_string(sample)});
}

std::string NodeValidation::name_of_output(std::size_t output) const {
  return output < output_names_.size() ? output_names_[output] : std::to_string(output);
}

void NodeValidation::report(std::size_t sample, std::size_t output,
                            const Comparison& comparison) const {
  std::string line = node_ + "/" + name_of_output(output) + " sample " + std::to_string(sample) +
                     ": " + headline(comparison);
  if (!comparison.passed() && !log_path_.empty()) line += "; details are in " + log_path_;
  log(LogLevel::kInfo, line);
  for (const std::string& detail : details(comparison)) log(LogLevel::kInfo, detail);
}

void NodeValidation::add_error(std::size_t sample, const std::string& error) {
  begin(sample).error = error;
  log(LogLevel::kInfo, node_ + " sample " + std::to_string(sample) +
                           ": the exported model could not be run: " + error);
  if (error_.empty()) error_ = error;
  fail(sample);
}

void NodeValidation::fail(std::size_t sample) {
  (sample == 0 ? first_failed_ : later_failed_) = true;
}

NodeOutcome NodeValidation::finish(std::string not_compared) {
  const bool passed = !first_failed_ && !later_failed_;
  if (elements_ > 0 && nan_ == elements_) {
    not_compared =
        "every value that it returned while tracing is NaN. Trace it with realistic inputs.";
  }
  if (passed && !not_compared.empty()) {
    warn(Code::kNotValidated, "  [NOT VALIDATED] " + node_ + ": " + not_compared);
  } else if (passed) {
    log(LogLevel::kInfo, "  [PASS] " + node_ + " passed validation (" +
                             std::to_string(samples_.size()) +
                             (samples_.size() == 1 ? " sample)" : " samples)"));
    for (std::size_t i = 0; i < output_names_.size(); ++i) {
      const Tolerance own = tolerance_for(precisions_, i, tolerance_);
      if (own == tolerance_) continue;
      log(LogLevel::kInfo, "    " + node_ + "/" + output_names_[i] + " was computed in " +
                               std::string(name_of(precisions_[i])) + ", and compared with " +
                               to_string(own) + ": it differs by at most " +
                               short_number(i < largest_.size() ? largest_[i] : 0));
    }
  } else if (!first_failed_ && error_.empty()) {
    log(LogLevel::kInfo,
        "  " + node_ +
            ": sample 0 passed, but a re-entry did not. Probably a value that changes between "
            "passes was exported as a constant. Declare it with annotate.input_tensors() or, if "
            "the node keeps it, with annotate.state_tensors()");
  }
  return {.node = node_,
          .passed = passed,
          .error = error_,
          .not_compared = std::move(not_compared),
          .difference = difference_,
          .samples = std::move(samples_)};
}

void log_validation_summary(const std::vector<NodeOutcome>& outcomes) {
  const auto count = [&](auto&& predicate) {
    return std::to_string(std::count_if(outcomes.begin(), outcomes.end(), predicate)) + "/" +
           std::to_string(outcomes.size());
  };
  const auto passed = [](const NodeOutcome& o) { return o.passed && o.not_compared.empty(); };
  const auto failed = [](const NodeOutcome& o) { return !o.passed && o.error.empty(); };
  const auto errored = [](const NodeOutcome& o) { return !o.error.empty(); };
  const auto skipped = [](const NodeOutcome& o) { return o.passed && !o.not_compared.empty(); };
  const auto say = [&](const std::string& title, auto&& predicate) {
    log(LogLevel::kInfo, "  " + title + ": " + count(predicate));
  };
  log(LogLevel::kInfo, "Validation Summary");
  log(LogLevel::kInfo, "  Passed: " + count(passed));
  say("Failed", failed);
  say("Errored", errored);
  if (std::any_of(outcomes.begin(), outcomes.end(), skipped)) {
    log(LogLevel::kInfo, "  Not validated: " + count(skipped));
  }
}

std::string describe_failures(const std::vector<NodeOutcome>& outcomes) {
  std::string names;
  std::size_t failures = 0;
  for (const NodeOutcome& outcome : outcomes) {
    if (outcome.passed) continue;
    names += (failures++ == 0 ? "" : ", ") + outcome.node;
  }
  if (failures == 0) return {};
  std::string text =
      "Model validation failed for " + std::to_string(failures) + " node(s): " + names;
  // Models that could not be run at all mostly have one common cause outside the models.
  const auto error = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](const NodeOutcome& o) { return !o.error.empty(); });
  if (error != outcomes.end()) text += " (" + error->error + ")";
  const auto difference = std::find_if(outcomes.begin(), outcomes.end(),
                                       [](const NodeOutcome& o) { return !o.difference.empty(); });
  if (difference != outcomes.end()) {
    text += ". First, " + difference->difference + " of node '" + difference->node + "'";
  }
  return text;
}

}  // namespace leapp
