// The rules of a bundle that can be checked without opening its files.
#pragma once

#include "bundle/rule_reporter.h"
#include "leapp/bundle.h"

namespace leapp {

/// Treatment of invalid element names and contracts. A tick does not need them, and other writers
/// do not check them, so readers only warn.
enum class MeaningPolicy { kFail, kWarn };

/// Checks every model by itself, the configs, and the other files: B4, B5, B8 to B14, B25 to B30.
void check_models(const Bundle& bundle, const BundleOptions& options, MeaningPolicy policy,
                  const RuleReporter& reporter);

/// Checks the wires between models that have passed check_models(), the schedule and the merged
/// nodes: B9, B15 to B19, B35 to B39, B43, B44.
void check_pipeline(const Bundle& bundle, const BundleOptions& options,
                    const RuleReporter& reporter);

/// Returns why a bundle must not contain that path, or an empty string: B14.
std::string find_path_fault(const std::string& path, const BundleOptions& options);

}  // namespace leapp
