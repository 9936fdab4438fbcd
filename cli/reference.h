// Pages of the documentation that the command contains, made from docs/ when it is built.
#pragma once

#include <string_view>

namespace leapp::cli {

extern const std::string_view kDiagnostics;  ///< docs/reference/diagnostics.md
extern const std::string_view kFormat;       ///< docs/reference/bundle.md

}  // namespace leapp::cli
