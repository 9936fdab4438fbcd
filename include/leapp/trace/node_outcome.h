// Result of the validation of one exported node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leapp/comparison.h"

namespace leapp {

/// One output of one run, with every figure.
struct OutputOutcome {
  std::string name;  ///< name as annotated
  Comparison comparison;
};

/// One run of the exported model.
struct SampleOutcome {
  std::string label;       ///< "sample 0" is the first pass, the others are re-entries
  std::string error = {};  ///< why the model could not be run; empty if it ran
  std::vector<OutputOutcome> outputs = {};  ///< empty if the values were not compared
};

/// The ONNX translation of a TorchScript model, which a robot runs instead of it.
struct TranslationOutcome {
  std::string left_out = {};  ///< why the file contains none; empty if it contains one
};

struct NodeOutcome {
  std::string node;
  bool passed = true;             ///< no difference was found; see not_compared
  std::string error = {};         ///< why the model could not be run at all; empty if it ran
  std::string not_compared = {};  ///< why the values were not compared; empty if they were
  std::string difference = {};    ///< the first difference: "'y' differs in pass 3"
  std::vector<SampleOutcome> samples = {};
  std::optional<TranslationOutcome> translation = {};  ///< of a TorchScript model
};

}  // namespace leapp
