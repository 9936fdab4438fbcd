// Everything that can be said about a bundle without opening its files.
#pragma once

#include "bundle/rule_reporter.h"
#include "leapp/bundle.h"

namespace leapp {

/// What is done about element names and a contract that do not fit: a tick does not need them, and
/// other writers do not check them, so readers warn.
enum class MeaningPolicy { kFail, kWarn };

/// B4, B5, B8 to B14, B25 to B30: every model by itself, the configs, and the other files.
void check_models(const Bundle& bundle, const BundleOptions& options, MeaningPolicy policy,
                  const RuleReporter& reporter);

/// B9, B15 to B19: the pipeline between models that have passed check_models().
void check_pipeline(const Bundle& bundle, const BundleOptions& options,
                    const RuleReporter& reporter);

/// B18: execution_order() with places in messages.
std::vector<std::size_t> find_execution_order(const Bundle& bundle, const RuleReporter& reporter);

/// B14: why that path may not stand in a bundle, or an empty text.
std::string find_path_fault(const std::string& path, const BundleOptions& options);

}  // namespace leapp
