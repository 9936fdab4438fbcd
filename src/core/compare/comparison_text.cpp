#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "leapp/comparison.h"

namespace leapp {
namespace {

template <typename... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), pattern, arguments...);
  return buffer;
}

std::string describe_form(const SideSummary& side) {
  return std::string(name_of(side.dtype)) + " " + to_string(side.shape);
}

std::string describe_range(const SideSummary& side) {
  if (side.finite == 0) return "no finite value";
  const char* const what = is_complex(side.dtype) ? "magnitudes" : "range";
  return format("%s [%.6e, %.6e]", what, side.min, side.max);
}

std::string describe_side(std::string_view name, const SideSummary& side) {
  return "  " + std::string(name) + "shape " + to_string(side.shape) + ", dtype " +
         std::string(name_of(side.dtype)) + ", " + describe_range(side);
}

/// Returns "3 NaN (75.0 %), 0 Inf (0.0 %)".
std::string describe_non_finite(const SideSummary& side) {
  const double total = static_cast<double>(side.nan + side.inf + side.finite);
  return format("%" PRId64 " NaN (%.1f %%), %" PRId64 " Inf (%.1f %%)", side.nan,
                100.0 * static_cast<double>(side.nan) / total, side.inf,
                100.0 * static_cast<double>(side.inf) / total);
}

/// Returns the origin of NaN and infinite values, as far as the counts show it.
std::string describe_origin(const Comparison& comparison) {
  if (comparison.passed()) return "  both sides have them at the same indices";
  const bool traced = comparison.traced.nan + comparison.traced.inf > 0;
  const bool exported = comparison.exported.nan + comparison.exported.inf > 0;
  if (traced && exported)
    return "  both sides have them, at different indices or with different signs";
  if (exported) return "  only the exported model has them: the export introduced them";
  return "  only the source has them: the traced code is unstable";
}

}  // namespace

std::string_view name_of(Comparison::Verdict verdict) noexcept {
  switch (verdict) {
    case Comparison::Verdict::kClose:
      return "close";
    case Comparison::Verdict::kShape:
      return "shape";
    case Comparison::Verdict::kDType:
      return "dtype";
    case Comparison::Verdict::kNonFinite:
      return "non_finite";
    case Comparison::Verdict::kValues:
      return "values";
  }
  return {};
}

std::string headline(const Comparison& comparison) {
  const std::string tolerance = "(" + to_string(comparison.tolerance) + ")";
  const auto counted = [&](const char* what) {
    return format("%" PRId64 " of %" PRId64 " values %s", comparison.mismatched,
                  comparison.elements, what);
  };
  switch (comparison.verdict) {
    case Comparison::Verdict::kClose:
      return comparison.has_non_finite() ? "close " + tolerance + ", with NaN or Inf"
                                         : "close " + tolerance;
    case Comparison::Verdict::kShape:
      return "Mismatch detected " + tolerance + ": the exported model returns " +
             describe_form(comparison.exported) + ", the source is " +
             describe_form(comparison.traced);
    case Comparison::Verdict::kDType:
      return "Mismatch detected " + tolerance + ": the exported model returns " +
             std::string(name_of(comparison.exported.dtype)) + ", the source is " +
             std::string(name_of(comparison.traced.dtype));
    case Comparison::Verdict::kNonFinite:
      return "Mismatch detected " + tolerance + ": NaN or Inf differ, " + counted("are not close");
    case Comparison::Verdict::kValues:
      return "Mismatch detected " + tolerance + ": " + counted("are not close");
  }
  return {};
}

std::vector<std::string> details(const Comparison& comparison) {
  if (comparison.passed() && !comparison.has_non_finite()) return {};
  std::vector<std::string> lines = {describe_side("source:   ", comparison.traced),
                                    describe_side("exported: ", comparison.exported)};
  if (comparison.has_non_finite()) {
    lines.push_back("  source has " + describe_non_finite(comparison.traced) + "; exported has " +
                    describe_non_finite(comparison.exported));
    lines.push_back(describe_origin(comparison));
  }
  const DifferenceSummary& difference = comparison.difference;
  if (difference.compared > 0) {
    lines.push_back(format("  difference: max=%.6e, mean=%.6e", difference.max, difference.mean));
    const auto& p = difference.percentiles;
    lines.push_back(format("  percentiles: p50=%.6e, p75=%.6e, p90=%.6e, p99=%.6e, p995=%.6e", p[0],
                           p[1], p[2], p[3], p[4]));
    if (!comparison.passed()) {
      lines.push_back("  largest at " + to_string(difference.worst_index) +
                      format(": source %.6e, exported %.6e", difference.worst_traced,
                             difference.worst_exported));
    }
  }
  return lines;
}

}  // namespace leapp
