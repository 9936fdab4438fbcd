#include "ir/selected_sums.h"

#include <algorithm>
#include <limits>
#include <map>

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

// What changes nothing in a reduction over all dimensions, or along some.
const double* neutral_of(const std::string& name, bool along) {
  static const std::map<std::string, double> of_all = {
      {"aten::sum", 0.0},       {"aten::mean", 0.0}, {"aten::max", -kInfinity},
      {"aten::min", kInfinity}, {"aten::any", 0.0},  {"aten::all", 1.0}};
  static const std::map<std::string, double> of_some = {
      {"aten::sum.dim_IntList", 0.0}, {"aten::mean.dim", 0.0}, {"aten::amax", -kInfinity},
      {"aten::amin", kInfinity},      {"aten::any.dim", 0.0},  {"aten::all.dim", 1.0}};
  const auto& known = along ? of_some : of_all;
  const auto it = known.find(name);
  return it == known.end() ? nullptr : &it->second;
}

// The dimensions a reduction goes over; all where it names none.
std::vector<std::int64_t> dims_of(const Op& op, std::int64_t rank) {
  std::vector<std::int64_t> dims;
  const Argument& given = op.argument("dim");
  const auto add = [&](std::int64_t dim) { dims.push_back(dim < 0 ? dim + rank : dim); };
  if (const auto* one = std::get_if<std::int64_t>(&given)) add(*one);
  if (const auto* several = std::get_if<std::vector<std::int64_t>>(&given)) {
    std::for_each(several->begin(), several->end(), add);
  }
  for (std::int64_t dim = 0; dims.empty() && dim < rank; ++dim) dims.push_back(dim);
  return dims;
}

bool fits(DType dtype, const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("any") || has("all")) return dtype == DType::kBool;
  const bool counts =
      has("sum") && (dtype == DType::kBool || dtype == DType::kInt64 || dtype == DType::kInt32);
  return is_float(dtype) || counts;
}

}  // namespace

bool replace_reduction(Selections& selections, const Op& op, Spread spread) {
  const std::string name = op.signature->qualified_name();
  const double* neutral = neutral_of(name, false);
  const bool along = neutral == nullptr && spread == Spread::kRows;
  if (along) neutral = neutral_of(name, true);
  if (neutral == nullptr) return false;
  const Selection* self = selections.find(tensor_in(op.arguments.at(0)));
  if (self == nullptr || !self->shaped) return false;
  if (!fits(selections.graph().type(self->full).dtype, name)) return false;
  if (op.has("dtype") && !std::holds_alternative<std::monostate>(op.argument("dtype"))) {
    return false;
  }
  Selection base = *self;
  // How many elements are summed up for each that was selected.
  std::int64_t each = 1;
  if (along) {
    const auto rank = static_cast<std::int64_t>(base.before + 1 + selections.rest_of(base).size());
    const std::vector<std::int64_t> dims = dims_of(op, rank);
    const auto selected = static_cast<std::int64_t>(base.before);
    if (std::find(dims.begin(), dims.end(), selected) == dims.end()) return false;
    base.full = selections.flattened(base, op);
    base.flat = true;
    const Shape& shape = selections.shape_of(base.full);
    for (const std::int64_t dim : dims) {
      if (dim != selected) each *= shape[static_cast<std::size_t>(dim)];
    }
  } else {
    const Shape& full = selections.shape_of(base.full);
    const auto behind = static_cast<std::ptrdiff_t>(base.before);
    each = element_count(selections.rest_of(base)) *
           element_count(Shape(full.begin(), full.begin() + behind));
  }
  const ValueId kept = selections.filled(base, *neutral, op);
  std::vector<Argument> arguments = op.arguments;
  arguments.at(0) = ValueRef{kept};
  if (op.signature->name != "aten::mean") {
    selections.push({op.signature, std::move(arguments), op.results, op.source, op.module_path});
    return true;
  }
  const TensorType type = selections.graph().type(op.result());
  const ValueId total = selections.append(along ? sum_along_signature() : sum_signature(),
                                          std::move(arguments), type, op);
  const ValueId count = selections.append(sum_signature(), {ValueRef{base.mask}, std::monostate()},
                                          {DType::kInt64, {}, type.device}, op);
  const ValueId mean =
      selections.append(div_signature(), {ValueRef{total}, ValueRef{count}}, type, op);
  const ValueId per_element = selections.scalar(type.dtype, static_cast<double>(each));
  selections.push({div_signature(),
                   {ValueRef{mean}, ValueRef{per_element}},
                   op.results,
                   op.source,
                   op.module_path});
  return true;
}

}  // namespace leapp::ir
