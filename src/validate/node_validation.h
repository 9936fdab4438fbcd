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

/// Collects the samples of one node and logs differences. Sample 0 is the first traced pass, the
/// others are re-entries. For one thread.
class LEAPP_EXPORT NodeValidation {
 public:
  /// Creates the validation of a node. `log_path` is the file with all details, which mismatches
  /// name.
  NodeValidation(std::string node, std::vector<std::string> output_names, Tolerance tolerance,
                 std::string log_path);

  /// Sets the least precise type in the computation of each output, if that is not its own type. It
  /// determines the tolerance, unless the caller requested one.
  void set_precisions(std::vector<DType> precisions) { precisions_ = std::move(precisions); }

  /// Compares one run of the exported model with the trace, output by output.
  void add_sample(std::size_t sample, const std::vector<ConstTensorView>& traced,
                  const std::vector<ConstTensorView>& exported);

  /// Records that the model ran on this sample without a value to compare with.
  void add_run(std::size_t sample) { begin(sample); }

  /// Records that the model could not be run on this sample.
  void add_error(std::size_t sample, const std::string& error);

  /// Logs the node's line of the report, with a hint if only re-entries failed. `not_compared` is
  /// the reason why values were not compared, if any; outputs that are only NaN are such a reason
  /// too.
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
  std::int64_t nan_ = 0;       // number of those traced values
  std::string error_;
  std::string difference_;       // the first difference, for the outcome
  std::vector<double> largest_;  // difference of each output with reduced precision
};

/// Logs the numbers of nodes that passed, failed, could not be run, and were not compared.
LEAPP_EXPORT void log_validation_summary(const std::vector<NodeOutcome>& outcomes);

/// Returns "Model validation failed for 2 node(s): a, b. First, 'y' differs in pass 3 of node 'a'",
/// or an empty string if all passed.
LEAPP_EXPORT std::string describe_failures(const std::vector<NodeOutcome>& outcomes);

}  // namespace leapp
