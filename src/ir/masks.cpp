#include "ir/masks.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "ir/passes.h"
#include "ir/rows.h"

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

const std::shared_ptr<const Signature>& sum_along_signature() {
  static const auto known = signature(
      "aten::sum", "dim_IntList",
      {{"self", "Tensor"}, {"dim", "int[]"}, {"keepdim", "bool"}, {"dtype", "ScalarType?"}});
  return known;
}

const std::shared_ptr<const Signature>& div_signature() {
  static const auto known =
      signature("aten::div", "Tensor", {{"self", "Tensor"}, {"other", "Tensor"}});
  return known;
}

const std::shared_ptr<const Signature>& add_signature() {
  static const auto known = signature(
      "aten::add", "Tensor", {{"self", "Tensor"}, {"other", "Tensor"}, {"alpha", "Scalar"}});
  return known;
}

const std::shared_ptr<const Signature>& not_zero_signature() {
  static const auto known =
      signature("aten::ne", "Scalar", {{"self", "Tensor"}, {"other", "Scalar"}});
  return known;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

// What was selected, and from what.
struct Selection {
  static constexpr int kValues = -2;  // elements of some tensor
  static constexpr int kPlaces = -1;  // where the mask is true, a column for each dimension

  ValueId mask = kNoValue;
  ValueId full = kNoValue;  // all elements, those that were not selected included
  bool shaped = true;       // false: put into another shape since
  bool flat = false;        // the mask's dimensions are one in `full`
  int column = kValues;     // or which column of the places it is
};

class Spreader {
 public:
  Spreader(Graph& graph, Spread spread) : graph_(graph), rows_(spread == Spread::kRows) {}

  void run() {
    const std::vector<Op> ops = graph_.ops();
    for (const Op& op : ops) {
      if (replace(op)) continue;
      made_.push_back(op);
      if (follow(op)) continue;
      // Whatever else is made of a selection may be as large as that.
      bool touches = false;
      for (const Argument& argument : op.arguments) {
        for_each_value(argument, [&](ValueId id) {
          touches |= selection(id) != nullptr || unknown_.count(id) > 0;
        });
      }
      if (!touches) continue;
      for (const Result& result : op.results) {
        unknown_.insert(result.values.begin(), result.values.end());
      }
    }
    if (found_.empty()) return;
    graph_.set_ops(std::move(made_));
    remove_dead_code(graph_);
  }

 private:
  const Shape& shape_of(ValueId id) const { return graph_.type(id).shape; }

  // The dimensions of `full` that the mask does not cover.
  Shape rest_of(const Selection& selection) const {
    const Shape& full = shape_of(selection.full);
    const std::size_t covered = selection.flat ? 1 : shape_of(selection.mask).size();
    return {full.begin() + static_cast<std::ptrdiff_t>(covered), full.end()};
  }

  static ValueId one(const Argument& argument) {
    const auto* ref = std::get_if<ValueRef>(&argument);
    return ref == nullptr ? kNoValue : ref->id;
  }

  // The mask, where that is the whole index, or the places where it is true are.
  ValueId mask_of(const Op& op) const {
    const auto* indices = std::get_if<std::vector<ValueRef>>(&op.argument("indices"));
    if (indices == nullptr || indices->empty() || indices->front().id == kNoValue) return kNoValue;
    std::size_t given = 1;
    while (given < indices->size() && (*indices)[given].id != kNoValue) ++given;
    for (std::size_t i = given; i < indices->size(); ++i) {
      if ((*indices)[i].id != kNoValue) return kNoValue;
    }
    const ValueId first = indices->front().id;
    if (const Selection* places = selection(first)) {
      for (std::size_t i = 0; i < given; ++i) {
        const Selection* along = selection((*indices)[i].id);
        if (along == nullptr || along->mask != places->mask ||
            along->column != static_cast<int>(i)) {
          return kNoValue;
        }
      }
      const Shape& mask = shape_of(places->mask);
      const Shape& self = shape_of(one(op.argument("self")));
      const bool fits = given == mask.size() && self.size() >= given &&
                        std::equal(mask.begin(), mask.end(), self.begin());
      return fits ? places->mask : kNoValue;
    }
    if (given > 1 || graph_.is_constant(first)) return kNoValue;
    return graph_.type(first).dtype == DType::kBool ? first : kNoValue;
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

  ValueId reshaped(ValueId value, const Shape& shape, const Op& like) {
    if (shape_of(value) == shape) return value;
    TensorType type = graph_.type(value);
    type.shape = shape;
    return append(reshape_signature(), {ValueRef{value}, shape}, std::move(type), like);
  }

  // The mask with as many dimensions of one behind it, laid out as the selection is.
  ValueId spread_mask(const Selection& selection, std::size_t behind, const Op& like) {
    Shape shape = shape_of(selection.mask);
    if (selection.flat) shape = {element_count(shape)};
    shape.insert(shape.end(), behind, 1);
    return reshaped(selection.mask, shape, like);
  }

  // All elements with the mask's dimensions as one.
  ValueId flattened(const Selection& selection, const Op& like) {
    if (selection.flat || shape_of(selection.mask).size() == 1) return selection.full;
    Shape shape = {element_count(shape_of(selection.mask))};
    const Shape rest = rest_of(selection);
    shape.insert(shape.end(), rest.begin(), rest.end());
    return reshaped(selection.full, shape, like);
  }

  ValueId unflattened(const Selection& selection, const Op& like) {
    if (!selection.flat) return selection.full;
    Shape shape = shape_of(selection.mask);
    const Shape rest = rest_of(selection);
    shape.insert(shape.end(), rest.begin(), rest.end());
    return reshaped(selection.full, shape, like);
  }

  ValueId scalar(DType dtype, double value) {
    auto bytes = std::make_shared<std::vector<std::byte>>(16);
    const auto write = [&](auto number) { std::memcpy(bytes->data(), &number, sizeof(number)); };
    if (dtype == DType::kFloat32) write(static_cast<float>(value));
    if (dtype == DType::kFloat64) write(value);
    if (dtype == DType::kBool) write(value != 0);
    if (dtype == DType::kInt64) write(static_cast<std::int64_t>(value));
    if (dtype == DType::kInt32) write(static_cast<std::int32_t>(value));
    std::shared_ptr<const std::byte> data(bytes, bytes->data());
    return graph_.add_constant("", {std::move(data), {dtype, {}, "cpu"}});
  }

  // All elements, with the value in place of those that were not selected.
  ValueId filled(const Selection& selection, double value, const Op& like) {
    const TensorType type = graph_.type(selection.full);
    const ValueId mask = spread_mask(selection, rest_of(selection).size(), like);
    return append(where_signature(),
                  {ValueRef{mask}, ValueRef{selection.full}, ValueRef{scalar(type.dtype, value)}},
                  type, like);
  }

  // The places of all elements of a tensor of that shape, a row for each.
  ValueId places_in(const Shape& shape) {
    const std::int64_t count = element_count(shape);
    auto bytes = std::make_shared<std::vector<std::int64_t>>();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t stride = count;
      for (const std::int64_t size : shape) {
        stride /= size;
        bytes->push_back(i / stride % size);
      }
    }
    std::shared_ptr<const std::byte> data(bytes, reinterpret_cast<const std::byte*>(bytes->data()));
    const auto columns = static_cast<std::int64_t>(shape.size());
    return graph_.add_constant("", {std::move(data), {DType::kInt64, {count, columns}, "cpu"}});
  }

  // Notes what the op selects, or makes of a selection; false where it is something else.
  bool follow(const Op& op) {
    const std::string name = op.signature->qualified_name();
    if (name == "aten::index.Tensor") {
      const ValueId mask = mask_of(op);
      const ValueId self = one(op.argument("self"));
      if (mask == kNoValue || self == kNoValue || unknown_.count(mask) > 0 ||
          unknown_.count(self) > 0 || selection(self) != nullptr) {
        return false;
      }
      found_[op.result()] = {mask, self};
      return true;
    }
    if (rows_ && follow_search(op, name)) return true;
    const Selection* of = nullptr;
    bool known = true;
    for (const Argument& argument : op.arguments) {
      for_each_value(argument, [&](ValueId id) {
        known = known && unknown_.count(id) == 0;
        const Selection* here = selection(id);
        if (here == nullptr) return;
        known = known && (of == nullptr || here->mask == of->mask);
        of = here;
      });
    }
    if (of == nullptr || !known) return false;
    const Selection base = *of;
    if (follow_elements(op, base) || (rows_ && follow_rows(op, base))) return true;
    if (op.signature->name != "aten::reshape" && op.signature->name != "aten::view") return false;
    const ValueId self = one(op.arguments.at(0));
    if (element_count(shape_of(op.result())) != element_count(shape_of(self))) return false;
    found_[op.result()] = {base.mask, base.full, false, base.flat};
    return true;
  }

  // masked_select() and nonzero().
  bool follow_search(const Op& op, const std::string& name) {
    const ValueId self = op.arguments.empty() ? kNoValue : one(op.arguments[0]);
    if (self == kNoValue || unknown_.count(self) > 0 || selection(self) != nullptr) return false;
    if (name == "aten::masked_select") {
      const ValueId mask = one(op.argument("mask"));
      if (mask == kNoValue || graph_.is_constant(mask) || selection(mask) != nullptr ||
          unknown_.count(mask) > 0 || shape_of(mask) != shape_of(self)) {
        return false;
      }
      found_[op.result()] = {mask, self};
      return true;
    }
    if (name != "aten::nonzero" && name != "aten::argwhere") return false;
    if (shape_of(self).empty() || element_count(shape_of(self)) == 0) return false;
    ValueId mask = self;
    if (graph_.type(self).dtype != DType::kBool) {
      TensorType type = graph_.type(self);
      type.dtype = DType::kBool;
      mask = append(not_zero_signature(), {ValueRef{self}, std::int64_t{0}}, std::move(type), op);
    }
    found_[op.result()] = {mask, places_in(shape_of(self)), true, true, Selection::kPlaces};
    return true;
  }

  // What works element by element.
  bool follow_elements(const Op& op, const Selection& base) {
    if (op.results.size() != 1 || op.results[0].is_list) return false;
    const TensorType& type = graph_.type(op.result());
    if (!base.shaped || !is_pointwise(op.signature->name, is_float(type.dtype))) return false;
    bool flat = false;
    for (const Argument& argument : op.arguments) {
      if (std::holds_alternative<std::vector<ValueRef>>(argument)) return false;
      const Selection* here = selection(one(argument));
      flat = flat || (here != nullptr && here->flat);
    }
    const std::size_t behind = type.shape.empty() ? 0 : type.shape.size() - 1;
    Shape shape = shape_of(base.mask);
    if (flat) shape = {element_count(shape)};
    shape.insert(shape.end(), type.shape.begin() + (type.shape.empty() ? 0 : 1), type.shape.end());
    std::vector<Argument> arguments = op.arguments;
    for (Argument& argument : arguments) {
      auto* ref = std::get_if<ValueRef>(&argument);
      if (ref == nullptr || ref->id == kNoValue) continue;
      if (const Selection* other = selection(ref->id)) {
        const Selection here = *other;
        if (!here.shaped || rest_of(here).size() != behind) return false;
        ref->id = flat ? flattened(here, op) : here.full;
      } else {
        const Shape& given = shape_of(ref->id);
        const bool single = element_count(given) == 1 && given.size() <= 1;
        const bool repeated = rows_ && given.size() == behind + 1 && given[0] == 1;
        if (!single && !repeated && given.size() > behind) return false;
        if (repeated && !flat) {  // one dimension for the mask's
          Shape wide(shape_of(base.mask).size(), 1);
          wide.insert(wide.end(), given.begin() + 1, given.end());
          ref->id = reshaped(ref->id, wide, op);
        }
      }
    }
    TensorType wide = type;
    wide.shape = shape;
    const ValueId all = append(op.signature, std::move(arguments), std::move(wide), op);
    found_[op.result()] = {base.mask, all, true, flat};
    return true;
  }

  // What works row by row.
  bool follow_rows(const Op& op, const Selection& base) {
    const auto is_selected = [&](ValueId id) { return selection(id) != nullptr; };
    if (!works_by_rows(graph_, op, is_selected)) return false;
    std::vector<Argument> arguments = op.arguments;
    int column = Selection::kValues;
    bool shaped = true;
    const auto widen = [&](ValueRef& ref) {
      const Selection* found = selection(ref.id);
      if (found == nullptr) return;
      const Selection here = *found;
      shaped = shaped && here.shaped;
      column = here.column;
      ref.id = flattened(here, op);
    };
    for (Argument& argument : arguments) {
      if (auto* ref = std::get_if<ValueRef>(&argument)) widen(*ref);
      if (auto* list = std::get_if<std::vector<ValueRef>>(&argument)) {
        std::for_each(list->begin(), list->end(), widen);
      }
    }
    if (!shaped) return false;
    const std::int64_t count = element_count(shape_of(base.mask));
    std::vector<Result> results;
    for (const Result& result : op.results) {
      results.push_back({result.is_list, {}});
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        const ValueId id = result.values[i];
        if (id == kNoValue) {
          results.back().values.push_back(kNoValue);
          continue;
        }
        TensorType wide = graph_.type(id);
        if (wide.shape.empty()) return false;
        wide.shape[0] = count;
        const ValueId all = graph_.add_result(std::move(wide));
        results.back().values.push_back(all);
        found_[id] = {base.mask, all, true, true, column_of(op, base, column, i)};
      }
    }
    made_.push_back(
        {op.signature, std::move(arguments), std::move(results), op.source, op.module_path});
    return true;
  }

  // Which column of the places a result is.
  int column_of(const Op& op, const Selection& base, int from, std::size_t item) const {
    const std::string& name = op.signature->name;
    if (from == Selection::kValues) return from;
    const auto whole = [&](const char* parameter, std::int64_t expected) {
      const auto* value = std::get_if<std::int64_t>(&op.argument(parameter));
      return value != nullptr && *value == expected;
    };
    if (from == Selection::kPlaces) {
      if (name == "aten::unbind") return static_cast<int>(item);
      if (name == "aten::select") {
        const auto* index = std::get_if<std::int64_t>(&op.argument("index"));
        const auto columns = static_cast<std::int64_t>(shape_of(base.mask).size());
        if (index != nullptr) return static_cast<int>(*index < 0 ? *index + columns : *index);
      }
      const bool only_one = shape_of(base.mask).size() == 1;
      const bool drops = name == "aten::squeeze" && (whole("dim", 1) || whole("dim", -1));
      return only_one && drops ? 0 : Selection::kValues;
    }
    return Selection::kValues;
  }

  // Says the op without its selection, where that can be done.
  bool replace(const Op& op) {
    const std::string name = op.signature->qualified_name();
    if (name == "aten::index_put") return replace_put(op, "values", mask_of(op));
    if (rows_ && name == "aten::masked_scatter") {
      return replace_put(op, "source", one(op.argument("mask")));
    }
    return replace_reduction(op, name);
  }

  bool replace_put(const Op& op, const char* source, ValueId by) {
    const Selection* values = selection(one(op.argument(source)));
    const ValueId self = one(op.argument("self"));
    if (values == nullptr || self == kNoValue || by != values->mask) return false;
    if (selection(self) != nullptr || unknown_.count(self) > 0) return false;
    const DType dtype = graph_.type(self).dtype;
    const bool adds = op.has("accumulate") && op.argument("accumulate") != Argument(false);
    if (dtype != graph_.type(values->full).dtype || (adds && (!rows_ || !is_float(dtype)))) {
      return false;
    }
    const Selection put = *values;
    Shape wanted = shape_of(self);
    const Shape& mask_shape = shape_of(put.mask);
    const std::size_t behind = rest_of(put).size();
    if (behind > 0 && !op.has("indices")) return false;  // its mask would be spread otherwise
    // What was put into another shape is put back as it was, if that is what it was selected from.
    if (wanted.size() != mask_shape.size() + behind || (!put.shaped && put.flat)) return false;
    if (!std::equal(mask_shape.begin(), mask_shape.end(), wanted.begin())) return false;
    const Shape rest = rest_of(put);
    for (std::size_t i = 0; i < behind; ++i) {
      const std::int64_t size = wanted[mask_shape.size() + i];
      if (rest[i] != size && (rest[i] != 1 || !rows_)) return false;
    }
    Selection apart = put;
    apart.full = unflattened(put, op);
    apart.flat = false;
    if (adds) {
      const ValueId term = filled(apart, 0.0, op);
      made_.push_back({add_signature(),
                       {ValueRef{self}, ValueRef{term}, std::int64_t{1}},
                       op.results,
                       op.source,
                       op.module_path});
      return true;
    }
    const ValueId mask = spread_mask(apart, behind, op);
    made_.push_back({where_signature(),
                     {ValueRef{mask}, ValueRef{apart.full}, ValueRef{self}},
                     op.results,
                     op.source,
                     op.module_path});
    return true;
  }

  // Sums and extremes over all that was selected.
  bool replace_reduction(const Op& op, const std::string& name) {
    static const std::map<std::string, double> neutral = {
        {"aten::sum", 0.0},
        {"aten::mean", 0.0},
        {"aten::max", -std::numeric_limits<double>::infinity()},
        {"aten::min", std::numeric_limits<double>::infinity()},
        {"aten::any", 0.0},
        {"aten::all", 1.0}};
    static const std::map<std::string, double> neutral_along = {
        {"aten::sum.dim_IntList", 0.0},
        {"aten::mean.dim", 0.0},
        {"aten::amax", -std::numeric_limits<double>::infinity()},
        {"aten::amin", std::numeric_limits<double>::infinity()},
        {"aten::any.dim", 0.0},
        {"aten::all.dim", 1.0}};
    const bool along = rows_ && neutral_along.count(name) > 0;
    if (!along && neutral.count(name) == 0) return false;
    const Selection* self = selection(one(op.arguments.at(0)));
    if (self == nullptr || !self->shaped) return false;
    const DType dtype = graph_.type(self->full).dtype;
    const bool logical =
        name.find("any") != std::string::npos || name.find("all") != std::string::npos;
    const bool counts = name.find("sum") != std::string::npos &&
                        (dtype == DType::kBool || dtype == DType::kInt64 || dtype == DType::kInt32);
    if (logical ? dtype != DType::kBool : !is_float(dtype) && !counts) return false;
    if (op.has("dtype") && !std::holds_alternative<std::monostate>(op.argument("dtype"))) {
      return false;
    }
    Selection base = *self;
    if (along) {
      const bool rows =
          !works_by_rows(graph_, op, [&](ValueId id) { return selection(id) != nullptr; });
      if (!rows) return false;  // the rows stay apart
      base.full = flattened(base, op);
      base.flat = true;
    }
    const ValueId kept = filled(base, along ? neutral_along.at(name) : neutral.at(name), op);
    std::vector<Argument> arguments = op.arguments;
    arguments.at(0) = ValueRef{kept};
    if (op.signature->name != "aten::mean") {
      made_.push_back({op.signature, std::move(arguments), op.results, op.source, op.module_path});
      return true;
    }
    // As many as the mask has, times the sizes of the other dimensions that are summed over.
    double each = static_cast<double>(element_count(rest_of(base)));
    if (along) {
      each = 1;
      const Shape& shape = shape_of(base.full);
      const auto rank = static_cast<std::int64_t>(shape.size());
      for (const std::int64_t dim : dims_of(op, rank)) {
        if (dim > 0) each *= static_cast<double>(shape[static_cast<std::size_t>(dim)]);
      }
    }
    const TensorType type = graph_.type(op.result());
    const ValueId total =
        append(along ? sum_along_signature() : sum_signature(), std::move(arguments), type, op);
    const ValueId count = append(sum_signature(), {ValueRef{base.mask}, std::monostate()},
                                 {DType::kInt64, {}, type.device}, op);
    const ValueId mean = append(div_signature(), {ValueRef{total}, ValueRef{count}}, type, op);
    made_.push_back({div_signature(),
                     {ValueRef{mean}, ValueRef{scalar(type.dtype, each)}},
                     op.results,
                     op.source,
                     op.module_path});
    return true;
  }

  // The dimensions a reduction goes over; all where it names none.
  static std::vector<std::int64_t> dims_of(const Op& op, std::int64_t rank) {
    std::vector<std::int64_t> dims;
    if (const auto* given = std::get_if<std::vector<std::int64_t>>(&op.argument("dim"))) {
      for (const std::int64_t dim : *given) dims.push_back(dim < 0 ? dim + rank : dim);
    }
    for (std::int64_t dim = 0; dims.empty() && dim < rank; ++dim) dims.push_back(dim);
    return dims;
  }

  Graph& graph_;
  bool rows_;
  std::vector<Op> made_;
  std::map<ValueId, Selection> found_;
  std::set<ValueId> unknown_;  // made of selections in a way that is not followed
};

}  // namespace

void spread_selections(Graph& graph, Spread spread) {
  Spreader(graph, spread).run();
}

}  // namespace leapp::ir
