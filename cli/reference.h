// Pages of the documentation that the command contains, embedded at build time from docs/.
#pragma once

#include <string_view>

namespace leapp::cli {

extern const std::string_view kDiagnostics;  ///< docs/reference/diagnostics.md
extern const std::string_view kFormat;       ///< docs/reference/bundle.md

}  // namespace leapp::cli
