// Everything that can be said about a bundle without opening its files.
#pragma once

#include "bundle/rule_reporter.h"
#include "leapp/bundle.h"

namespace leapp {

/// What a reader does about element names that do not fit: they cannot do harm at run time, and
/// other writers do not check them.
enum class ElementNamesPolicy { kFail, kWarn };

/// B4, B5, B8 to B14: every model by itself.
void check_models(const Bundle& bundle, const BundleOptions& options, ElementNamesPolicy policy,
                  const RuleReporter& reporter);

/// B9, B15 to B19: the pipeline between models that have passed check_models().
void check_pipeline(const Bundle& bundle, const BundleOptions& options,
                    const RuleReporter& reporter);

/// B18: execution_order() with places in messages.
std::vector<std::size_t> find_execution_order(const Bundle& bundle, const RuleReporter& reporter);

/// B14: why that path may not stand in a bundle, or an empty text.
std::string find_path_fault(const std::string& path, const BundleOptions& options);

}  // namespace leapp
