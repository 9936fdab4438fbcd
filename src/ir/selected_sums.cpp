#include "ir/selected_sums.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace leapp::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::shared_ptr<const Signature>& sum_signature() {
  static const auto known =
      signature_of("aten::sum", "", {{"self", "Tensor"}, {"dtype", "ScalarType?"}});
  return known;
}

const std::shared_ptr<const Signature>& sum_along_signature() {
  static const auto known = signature_of(
      "aten::sum", "dim_IntList",
      {{"self", "Tensor"}, {"dim", "int[]"}, {"keepdim", "bool"}, {"dtype", "ScalarType?"}});
  return known;
}

const std::shared_ptr<const Signature>& div_signature() {
  static const auto known =
      signature_of("aten::div", "Tensor", {{"self", "Tensor"}, {"other", "Tensor"}});
  return known;
}

// The neutral element of a reduction; nullptr for other operators.
const double* neutral_of(const std::string& name) {
  static const std::map<std::string, double> known = {
      {"aten::sum", 0.0},        {"aten::sum.dim_IntList", 0.0},
      {"aten::mean", 0.0},       {"aten::mean.dim", 0.0},
      {"aten::max", -kInfinity}, {"aten::amax", -kInfinity},
      {"aten::min", kInfinity},  {"aten::amin", kInfinity},
      {"aten::any", 0.0},        {"aten::any.dim", 0.0},
      {"aten::all", 1.0},        {"aten::all.dim", 1.0}};
  const auto it = known.find(name);
  return it == known.end() ? nullptr : &it->second;
}

// Returns whether elements of the type have a neutral value for the reduction.
bool has_neutral(DType dtype, const std::string& name) {
  if (name == "aten::any" || name == "aten::all") return dtype == DType::kBool;
  const bool counts = dtype == DType::kBool || dtype == DType::kInt64 || dtype == DType::kInt32;
  return is_float(dtype) || (counts && name == "aten::sum");
}

// The dimensions of a reduction; all if it names none.
std::vector<std::int64_t> dims_of(const Op& op, std::int64_t rank) {
  std::vector<std::int64_t> dims;
  const Argument given = op.has("dim") ? op.argument("dim") : Argument();
  const auto add = [&](std::int64_t dim) { dims.push_back(dim < 0 ? dim + rank : dim); };
  if (const auto* one = std::get_if<std::int64_t>(&given)) add(*one);
  if (const auto* several = std::get_if<std::vector<std::int64_t>>(&given)) {
    std::for_each(several->begin(), several->end(), add);
  }
  if (dims.empty()) {
    dims.resize(static_cast<std::size_t>(rank));
    std::iota(dims.begin(), dims.end(), std::int64_t{0});
  }
  return dims;
}

// A mean is the sum, divided by the number of selections and by the elements in `each` of them.
void replace_mean(Selections& selections, const Op& op, ValueId mask, std::int64_t each,
                  std::vector<Argument> arguments) {
  const TensorType type = selections.graph().type(op.result());
  const ValueId total = selections.append(op.has("dim") ? sum_along_signature() : sum_signature(),
                                          std::move(arguments), type, op);
  const ValueId count = selections.append(sum_signature(), {ValueRef{mask}, std::monostate()},
                                          {DType::kInt64, {}, type.device}, op);
  const ValueId mean =
      selections.append(div_signature(), {ValueRef{total}, ValueRef{count}}, type, op);
  const ValueId per_element = selections.scalar(type.dtype, static_cast<double>(each));
  selections.replace(op, div_signature(), {ValueRef{mean}, ValueRef{per_element}});
}

}  // namespace

bool replace_reduction(Selections& selections, const Op& op, Spread spread) {
  const double* neutral = neutral_of(op.signature->qualified_name());
  const bool along = op.has("dim");
  if (neutral == nullptr || (along && spread != Spread::kRows)) return false;
  const ValueId self = tensor_in(op.arguments.at(0));
  const Selection* found = selections.find(self);
  if (found == nullptr || !found->shaped) return false;
  if (!has_neutral(selections.graph().type(found->full).dtype, op.signature->name)) return false;
  if (op.has("dtype") && op.argument("dtype") != Argument()) return false;
  const Shape& shape = selections.shape_of(self);
  bool reduces_mask = false;
  std::int64_t each = 1;
  for (const std::int64_t dim : dims_of(op, static_cast<std::int64_t>(shape.size()))) {
    const bool is_mask = dim == static_cast<std::int64_t>(found->leading);
    reduces_mask = reduces_mask || is_mask;
    if (!is_mask) each *= shape.at(static_cast<std::size_t>(dim));
  }
  if (!reduces_mask) return false;
  Selection base = *found;
  if (along) {
    base.full = selections.flattened(base, op);
    base.flat = true;
  }
  std::vector<Argument> arguments = op.arguments;
  arguments.at(0) = ValueRef{selections.filled(base, *neutral, op)};
  if (op.signature->name == "aten::mean") {
    replace_mean(selections, op, base.mask, each, std::move(arguments));
  } else {
    selections.replace(op, op.signature, std::move(arguments));
  }
  return true;
}

}  // namespace leapp::ir
