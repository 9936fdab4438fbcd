#include "ir/masks.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "ir/passes.h"

namespace leapp::ir {
namespace {

using Parameters = std::vector<Signature::Parameter>;

std::shared_ptr<const Signature> signature(const char* name, const char* overload,
                                           Parameters parameters) {
  return std::make_shared<const Signature>(
      Signature{name, overload, std::move(parameters), {"Tensor"}});
}

const std::shared_ptr<const Signature>& where_signature() {
  static const auto known = signature(
      "aten::where", "self", {{"condition", "Tensor"}, {"self", "Tensor"}, {"other", "Tensor"}});
  return known;
}

const std::shared_ptr<const Signature>& reshape_signature() {
  static const auto known =
      signature("aten::reshape", "", {{"self", "Tensor"}, {"shape", "int[]"}});
  return known;
}

const std::shared_ptr<const Signature>& sum_signature() {
  static const auto known =
      signature("aten::sum", "", {{"self", "Tensor"}, {"dtype", "ScalarType?"}});
  return known;
}

const std::shared_ptr<const Signature>& div_signature() {
  static const auto known =
      signature("aten::div", "Tensor", {{"self", "Tensor"}, {"other", "Tensor"}});
  return known;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

// Works element by element, whatever the elements are.
bool is_pointwise(const std::string& name, bool floats) {
  static const std::set<std::string_view> always = {
      "aten::abs",         "aten::absolute",    "aten::add",        "aten::alias",
      "aten::bitwise_and", "aten::bitwise_not", "aten::bitwise_or", "aten::clamp",
      "aten::clamp_max",   "aten::clamp_min",   "aten::clip",       "aten::clone",
      "aten::contiguous",  "aten::detach",      "aten::eq",         "aten::full_like",
      "aten::ge",          "aten::gt",          "aten::le",         "aten::logical_and",
      "aten::logical_not", "aten::logical_or",  "aten::lt",         "aten::maximum",
      "aten::minimum",     "aten::mul",         "aten::multiply",   "aten::ne",
      "aten::neg",         "aten::negative",    "aten::ones_like",  "aten::relu",
      "aten::rsub",        "aten::sign",        "aten::square",     "aten::sub",
      "aten::subtract",    "aten::to",          "aten::_to_copy",   "aten::where",
      "aten::zeros_like"};
  static const std::set<std::string_view> for_floats = {
      "aten::atan",       "aten::atan2",      "aten::ceil",      "aten::cos",
      "aten::div",        "aten::divide",     "aten::elu",       "aten::exp",
      "aten::expm1",      "aten::floor",      "aten::fmod",      "aten::gelu",
      "aten::hardtanh",   "aten::isfinite",   "aten::isnan",     "aten::leaky_relu",
      "aten::lerp",       "aten::log",        "aten::log1p",     "aten::nan_to_num",
      "aten::pow",        "aten::reciprocal", "aten::remainder", "aten::round",
      "aten::rsqrt",      "aten::sigmoid",    "aten::silu",      "aten::sin",
      "aten::softplus",   "aten::sqrt",       "aten::tan",       "aten::tanh",
      "aten::true_divide"};
  return always.count(name) > 0 || (floats && for_floats.count(name) > 0);
}

// What was selected, and from what.
struct Selection {
  ValueId mask = kNoValue;
  ValueId full = kNoValue;  // all elements, those that were not selected included
  bool shaped = true;       // false: put into another shape since
};

class Spreader {
 public:
  explicit Spreader(Graph& graph) : graph_(graph) {}

  void run() {
    const std::vector<Op> ops = graph_.ops();
    for (const Op& op : ops) {
      if (!replace(op)) made_.push_back(op);
      follow(op);
    }
    if (found_.empty()) return;
    graph_.set_ops(std::move(made_));
    remove_dead_code(graph_);
  }

 private:
  const Shape& shape_of(ValueId id) const { return graph_.type(id).shape; }

  std::size_t rest_of(const Selection& selection) const {
    return shape_of(selection.full).size() - shape_of(selection.mask).size();
  }

  static ValueId one(const Argument& argument) {
    const auto* ref = std::get_if<ValueRef>(&argument);
    return ref == nullptr ? kNoValue : ref->id;
  }

  // The mask, where that is the whole index.
  ValueId mask_of(const Op& op) const {
    const auto* indices = std::get_if<std::vector<ValueRef>>(&op.argument("indices"));
    if (indices == nullptr || indices->empty()) return kNoValue;
    for (std::size_t i = 1; i < indices->size(); ++i) {
      if ((*indices)[i].id != kNoValue) return kNoValue;
    }
    const ValueId mask = indices->front().id;
    if (mask == kNoValue || graph_.is_constant(mask)) return kNoValue;
    return graph_.type(mask).dtype == DType::kBool ? mask : kNoValue;
  }

  const Selection* selection(ValueId id) const {
    const auto it = found_.find(id);
    return it == found_.end() ? nullptr : &it->second;
  }

  ValueId append(const std::shared_ptr<const Signature>& signature, std::vector<Argument> arguments,
                 TensorType type, const Op& like) {
    const ValueId result = graph_.add_result(std::move(type));
    made_.push_back(
        {signature, std::move(arguments), {{false, {result}}}, like.source, like.module_path});
    return result;
  }

  // The mask with a dimension of one for each that it does not cover.
  ValueId spread_mask(const Selection& selection, const Op& like) {
    if (rest_of(selection) == 0) return selection.mask;
    TensorType type = graph_.type(selection.mask);
    type.shape.insert(type.shape.end(), rest_of(selection), 1);
    const Shape shape = type.shape;
    return append(reshape_signature(), {ValueRef{selection.mask}, shape}, std::move(type), like);
  }

  ValueId scalar(DType dtype, double value) {
    auto bytes = std::make_shared<std::vector<std::byte>>(16);
    const auto write = [&](auto number) { std::memcpy(bytes->data(), &number, sizeof(number)); };
    if (dtype == DType::kFloat32) write(static_cast<float>(value));
    if (dtype == DType::kFloat64) write(value);
    std::shared_ptr<const std::byte> data(bytes, bytes->data());
    return graph_.add_constant("", {std::move(data), {dtype, {}, "cpu"}});
  }

  ValueId filled(const Selection& selection, double value, const Op& like) {
    const TensorType type = graph_.type(selection.full);
    return append(where_signature(),
                  {ValueRef{spread_mask(selection, like)}, ValueRef{selection.full},
                   ValueRef{scalar(type.dtype, value)}},
                  type, like);
  }

  // Notes what the op selects, or makes of a selection.
  void follow(const Op& op) {
    if (op.results.size() != 1 || op.results[0].is_list) return;
    if (op.signature->qualified_name() == "aten::index.Tensor") {
      const ValueId mask = mask_of(op);
      const ValueId self = one(op.argument("self"));
      if (mask != kNoValue && self != kNoValue) found_[op.result()] = {mask, self, true};
      return;
    }
    const Selection* of = nullptr;
    for (const Argument& argument : op.arguments) {
      const Selection* here = selection(one(argument));
      if (here != nullptr) of = here;
    }
    if (of == nullptr) return;
    const Selection base = *of;
    const TensorType& type = graph_.type(op.result());
    const std::string& name = op.signature->name;
    if (name == "aten::reshape" || name == "aten::view") {
      const ValueId self = one(op.arguments.at(0));
      if (element_count(type.shape) == element_count(shape_of(self))) {
        found_[op.result()] = {base.mask, base.full, false};
      }
      return;
    }
    if (!base.shaped || !is_pointwise(name, is_float(type.dtype))) return;
    const Shape& full = shape_of(base.full);
    const std::size_t covered = shape_of(base.mask).size();
    if (type.shape.size() != 1 + rest_of(base) ||
        !std::equal(type.shape.begin() + 1, type.shape.end(),
                    full.begin() + static_cast<std::ptrdiff_t>(covered))) {
      return;
    }
    std::vector<Argument> arguments = op.arguments;
    for (Argument& argument : arguments) {
      if (std::holds_alternative<std::vector<ValueRef>>(argument)) return;
      auto* ref = std::get_if<ValueRef>(&argument);
      if (ref == nullptr || ref->id == kNoValue) continue;
      if (const Selection* other = selection(ref->id)) {
        if (other->mask != base.mask || !other->shaped || shape_of(other->full) != full) return;
        ref->id = other->full;
      } else {
        const Shape& shape = shape_of(ref->id);
        const bool single = element_count(shape) == 1 && shape.size() <= 1;
        if (!single && shape.size() > rest_of(base)) return;
      }
    }
    TensorType wide = type;
    wide.shape = full;
    const ValueId all = append(op.signature, std::move(arguments), std::move(wide), op);
    found_[op.result()] = {base.mask, all, true};
  }

  // Says the op without its selection, where that can be done.
  bool replace(const Op& op) {
    const std::string name = op.signature->qualified_name();
    if (name == "aten::index_put") {
      const Selection* values = selection(one(op.argument("values")));
      const ValueId self = one(op.argument("self"));
      if (values == nullptr || mask_of(op) != values->mask || self == kNoValue) return false;
      if (std::get_if<bool>(&op.argument("accumulate")) == nullptr ||
          std::get<bool>(op.argument("accumulate")) || shape_of(self) != shape_of(values->full) ||
          graph_.type(self).dtype != graph_.type(values->full).dtype) {
        return false;
      }
      const ValueId mask = spread_mask(*values, op);
      made_.push_back({where_signature(),
                       {ValueRef{mask}, ValueRef{values->full}, ValueRef{self}},
                       op.results,
                       op.source,
                       op.module_path});
      return true;
    }
    const bool sums = name == "aten::sum" || name == "aten::mean";
    if (!sums && name != "aten::max" && name != "aten::min") return false;
    const Selection* self = selection(one(op.arguments.at(0)));
    if (self == nullptr || !self->shaped || !is_float(graph_.type(self->full).dtype)) return false;
    if (sums && !std::holds_alternative<std::monostate>(op.argument("dtype"))) return false;
    const double infinity = std::numeric_limits<double>::infinity();
    const double neutral = sums ? 0.0 : name == "aten::max" ? -infinity : infinity;
    const Selection base = *self;
    const ValueId kept = filled(base, neutral, op);
    if (name != "aten::mean") {
      std::vector<Argument> arguments = op.arguments;
      arguments.at(0) = ValueRef{kept};
      made_.push_back({op.signature, std::move(arguments), op.results, op.source, op.module_path});
      return true;
    }
    const TensorType type = graph_.type(op.result());
    const ValueId total = append(sum_signature(), {ValueRef{kept}, std::monostate()}, type, op);
    const ValueId count = append(sum_signature(), {ValueRef{base.mask}, std::monostate()},
                                 {DType::kInt64, {}, type.device}, op);
    std::int64_t each = 1;
    const Shape& full = shape_of(base.full);
    for (std::size_t i = shape_of(base.mask).size(); i < full.size(); ++i) each *= full[i];
    const ValueId mean = append(div_signature(), {ValueRef{total}, ValueRef{count}}, type, op);
    made_.push_back({div_signature(),
                     {ValueRef{mean}, ValueRef{scalar(type.dtype, static_cast<double>(each))}},
                     op.results,
                     op.source,
                     op.module_path});
    return true;
  }

  Graph& graph_;
  std::vector<Op> made_;
  std::map<ValueId, Selection> found_;
};

}  // namespace

void spread_selections(Graph& graph) {
  Spreader(graph).run();
}

}  // namespace leapp::ir
