// The validation of one exported node over all its samples, and the summary over all nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "leapp/comparison.h"
#include "leapp/tensor_view.h"
#include "leapp/trace/node_outcome.h"
#include "leapp/visibility.h"

namespace leapp {

/// Collects the samples of one node and logs what differs. Sample 0 is the first pass while
/// tracing, the others are re-entries. Use from one thread.
class LEAPP_EXPORT NodeValidation {
 public:
  /// `log_path` is where a reader finds every detail; it is named in each mismatch.
  NodeValidation(std::string node, std::vector<std::string> output_names, Tolerance tolerance,
                 std::string log_path);

  /// The least precise type that each output was computed in, where that is not its own: it decides
  /// the tolerance, unless somebody asked for one.
  void set_precisions(std::vector<DType> precisions) { precisions_ = std::move(precisions); }

  /// Compares one run of the exported model with what was traced, output by output.
  void add_sample(std::size_t sample, const std::vector<ConstTensorView>& traced,
                  const std::vector<ConstTensorView>& exported);

  /// Notes that the model ran on this sample, but that there is nothing to compare with.
  void add_run(std::size_t sample) { begin(sample); }

  /// Notes that the model could not be run at all on this sample.
  void add_error(std::size_t sample, const std::string& error);

  /// Logs the node's line of the report, and a hint where only re-entries failed. `not_compared`
  /// says why values were not compared, where they were not; nothing but NaN is a reason of its
  /// own.
  NodeOutcome finish(std::string not_compared = {});

 private:
  SampleOutcome& begin(std::size_t sample);
  std::string name_of_output(std::size_t output) const;
  void report(std::size_t sample, std::size_t output, const Comparison& comparison) const;
  void fail(std::size_t sample);

  std::string node_;
  std::vector<std::string> output_names_;
  Tolerance tolerance_;
  std::vector<DType> precisions_;
  std::string log_path_;
  std::vector<SampleOutcome> samples_;
  bool first_failed_ = false;
  bool later_failed_ = false;
  std::int64_t elements_ = 0;  // of all samples
  std::int64_t nan_ = 0;       // as many of them were so when traced
  std::string error_;
  std::string difference_;       // the first, for the outcome
  std::vector<double> largest_;  // difference of each output that was computed with less precision
};

/// Logs how many nodes passed, failed, could not be run, and were not compared.
LEAPP_EXPORT void log_validation_summary(const std::vector<NodeOutcome>& outcomes);

/// "Model validation failed for 2 node(s): a, b. First, 'y' differs in pass 3 of node 'a'", or an
/// empty text when all passed.
LEAPP_EXPORT std::string describe_failures(const std::vector<NodeOutcome>& outcomes);

}  // namespace leapp
