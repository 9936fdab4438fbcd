#include "ir/precision.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace leapp::ir {
namespace {

enum Coarseness { kFine, kHalf, kBrain };

Coarseness coarseness_of(DType dtype) {
  if (dtype == DType::kBFloat16) return kBrain;
  return dtype == DType::kFloat16 ? kHalf : kFine;
}

bool only_moves(const Op& op) {
  static const std::set<std::string_view> names = {
      "aten::cat",          "aten::clone",     "aten::expand",    "aten::flatten", "aten::flip",
      "aten::gather",       "aten::index",     "aten::narrow",    "aten::permute", "aten::repeat",
      "aten::index_select", "aten::reshape",   "aten::roll",      "aten::select",  "aten::slice",
      "aten::split",        "aten::squeeze",   "aten::stack",     "aten::t",       "aten::chunk",
      "aten::transpose",    "aten::unbind",    "aten::unflatten", "aten::view",    "aten::where",
      "aten::unsqueeze",    "aten::zeros_like"};
  return names.count(op.signature->name) > 0;
}

}  // namespace

std::vector<DType> output_precisions(const Graph& graph) {
  std::vector<Coarseness> coarse(graph.value_count(), kFine);
  for (const Op& op : graph.ops()) {
    Coarseness from = kFine;
    for (const Argument& argument : op.arguments) {
      for_each_value(argument, [&](ValueId id) {
        from = std::max(from, coarse[static_cast<std::size_t>(id)]);
      });
    }
    for_each_result(op, [&](ValueId id) {
      const Coarseness own = only_moves(op) ? kFine : coarseness_of(graph.type(id).dtype);
      coarse[static_cast<std::size_t>(id)] = std::max(from, own);
    });
  }
  std::vector<DType> found;
  for (const Graph::Output& output : graph.outputs()) {
    const Coarseness worst = coarse[static_cast<std::size_t>(output.value)];
    const DType own = graph.type(output.value).dtype;
    const bool coarser = worst > coarseness_of(own);
    found.push_back(!coarser ? own : worst == kBrain ? DType::kBFloat16 : DType::kFloat16);
  }
  return found;
}

}  // namespace leapp::ir
