#include "compare/comparison_json.h"

#include <nlohmann/json.hpp>

namespace leapp {
namespace {

using Json = nlohmann::ordered_json;

Json side_json(const SideSummary& side) {
  const auto total = static_cast<double>(side.nan + side.inf + side.finite);
  const auto percent = [&](std::int64_t count) {
    return total > 0 ? 100.0 * static_cast<double>(count) / total : 0.0;
  };
  return {{"dtype", name_of(side.dtype)},
          {"shape", side.shape},
          {"min", side.finite > 0 ? Json(side.min) : Json()},
          {"max", side.finite > 0 ? Json(side.max) : Json()},
          {"nan", side.nan},
          {"nan_percent", percent(side.nan)},
          {"inf", side.inf},
          {"inf_percent", percent(side.inf)}};
}

Json difference_json(const Comparison& comparison) {
  const bool same_form = comparison.verdict != Comparison::Verdict::kShape &&
                         comparison.verdict != Comparison::Verdict::kDType;
  const DifferenceSummary& difference = comparison.difference;
  if (!same_form || difference.compared == 0) return {};
  const auto& p = difference.percentiles;
  return {{"compared", difference.compared},
          {"max", difference.max},
          {"mean", difference.mean},
          {"p50", p[0]},
          {"p75", p[1]},
          {"p90", p[2]},
          {"p99", p[3]},
          {"p995", p[4]},
          {"worst",
           {{"index", difference.worst_index},
            {"source", difference.worst_traced},
            {"exported", difference.worst_exported}}}};
}

}  // namespace

nlohmann::ordered_json to_json(const Comparison& comparison) {
  return {{"passed", comparison.passed()},
          {"verdict", name_of(comparison.verdict)},
          {"rtol", comparison.tolerance.rtol},
          {"atol", comparison.tolerance.atol},
          {"elements", comparison.elements},
          {"mismatched", comparison.mismatched},
          {"source", side_json(comparison.traced)},
          {"exported", side_json(comparison.exported)},
          {"difference", difference_json(comparison)}};
}

}  // namespace leapp
