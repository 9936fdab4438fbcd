#include "export/onnx/signs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace leapp::onnx_export {
namespace {

using Axis = FreeVectors::Axis;
using Numbers = std::vector<std::int64_t>;

/// The product of all signs, as in a determinant.
constexpr std::int64_t kAllSigns = -1;

/// Dependence of a value on undefined signs.
struct Signs {
  enum class Kind {
    kPerVector,  ///< each column or row has the sign of a vector
    kWhole,      ///< all elements have the same sign
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  Axis axis = Axis::kColumns;
  Numbers which;  ///< the vector of each column or row; the common sign of all elements

  bool operator==(const Signs&) const = default;
};

class Follower {
 public:
  Follower(const ir::Graph& graph, const std::vector<FreeVectors>& vectors) : graph_(graph) {
    for (const FreeVectors& one : vectors) {
      const Shape& shape = graph.type(one.value).shape;
      Signs signs{Signs::Kind::kPerVector, one.axis, {}};
      signs.which.resize(
          static_cast<std::size_t>(*(shape.end() - (one.axis == Axis::kColumns ? 1 : 2))));
      std::iota(signs.which.begin(), signs.which.end(), 0);
      signs_[one.value] = std::move(signs);
    }
  }

  bool run() {
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      const ir::Op& op = graph_.ops()[i];
      bool touched = false;
      for (const ir::Argument& argument : op.arguments) {
        ir::for_each_value(argument,
                           [&](ir::ValueId id) { touched = touched || signs_.contains(id); });
      }
      if (touched && !follow(op)) return false;
    }
    return std::none_of(graph_.outputs().begin(), graph_.outputs().end(),
                        [&](const auto& output) { return signs_.contains(output.value); });
  }

 private:
  const Signs* of(ir::ValueId id) const {
    const auto found = signs_.find(id);
    return found == signs_.end() ? nullptr : &found->second;
  }

  static ir::ValueId tensor(const ir::Op& op, std::size_t i) {
    const auto* ref =
        i < op.arguments.size() ? std::get_if<ir::ValueRef>(&op.arguments[i]) : nullptr;
    return ref == nullptr ? ir::kNoValue : ref->id;
  }

  static std::optional<std::int64_t> integer(const ir::Op& op, std::string_view parameter) {
    if (!op.has(parameter)) return std::nullopt;
    const auto* value = std::get_if<std::int64_t>(&op.argument(parameter));
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

  std::int64_t rank(ir::ValueId id) const {
    return static_cast<std::int64_t>(graph_.type(id).shape.size());
  }

  /// Returns the dimension along which the vectors are counted.
  std::int64_t dim_of(ir::ValueId id, const Signs& signs) const {
    return rank(id) - (signs.axis == Axis::kColumns ? 1 : 2);
  }

  bool same_matrices(ir::ValueId a, ir::ValueId b) const {
    const Shape& x = graph_.type(a).shape;
    const Shape& y = graph_.type(b).shape;
    return x.size() >= 2 && y.size() >= 2 && std::equal(x.end() - 2, x.end(), y.end() - 2);
  }

  bool carry(const ir::Op& op, Signs signs) {
    signs_[op.result()] = std::move(signs);
    return true;
  }

  bool follow(const ir::Op& op) {
    const std::string& name = op.signature->name;
    const ir::ValueId self = tensor(op, 0);
    static const std::map<std::string_view, bool (Follower::*)(const ir::Op&)> kRules = {
        {"aten::matmul", &Follower::product},
        {"aten::mm", &Follower::product},
        {"aten::bmm", &Follower::product},
        {"aten::mul", &Follower::times},
        {"aten::div", &Follower::times},
        {"aten::transpose", &Follower::swap},
        {"aten::t", &Follower::swap},
        {"aten::mT", &Follower::swap},
        {"aten::permute", &Follower::swap},
        {"aten::slice", &Follower::slice},
        {"aten::select", &Follower::select},
        {"aten::cat", &Follower::join},
        {"aten::select_scatter", &Follower::put},
        {"aten::_linalg_det", &Follower::determinant},
    };
    if (const auto rule = kRules.find(name); rule != kRules.end()) {
      return (this->*rule->second)(op);
    }
    const Signs* signs = of(self);
    if (signs == nullptr || signs->kind == Signs::Kind::kUnknown) return false;
    if (name == "aten::abs" || name == "aten::square") return true;
    if (name == "aten::neg" || name == "aten::clone" || name == "aten::contiguous" ||
        name == "aten::alias" || name == "aten::detach" || name == "aten::sign" ||
        name == "aten::sgn" || name == "aten::to" || name == "aten::_to_copy") {
      return carry(op, *signs);
    }
    const bool shapes = name == "aten::expand" || name == "aten::view" ||
                        name == "aten::_unsafe_view" || name == "aten::reshape" ||
                        name == "aten::unsqueeze" || name == "aten::squeeze";
    if (!shapes) return false;
    return (signs->kind == Signs::Kind::kWhole || same_matrices(self, op.result())) &&
           carry(op, *signs);
  }

  /// Returns whether the matrix is diagonal.
  bool is_diagonal(ir::ValueId id) const {
    const ir::Value& value = graph_.value(id);
    if (value.kind != ir::ValueKind::kResult) return false;
    const ir::Op& op = graph_.ops()[static_cast<std::size_t>(value.index)];
    const std::string& name = op.signature->name;
    const bool makes_one =
        name == "aten::diag_embed" || (name == "aten::diag" && rank(tensor(op, 0)) == 1);
    const bool main = integer(op, name == "aten::diag" ? "diagonal" : "offset").value_or(0) == 0 &&
                      integer(op, "dim1").value_or(-2) == -2 &&
                      integer(op, "dim2").value_or(-1) == -1;
    return makes_one && main;
  }

  bool product(const ir::Op& op) {
    const ir::ValueId left = tensor(op, 0);
    const ir::ValueId right = tensor(op, 1);
    if (rank(left) < 2 || rank(right) < 2) return false;
    const Signs* a = of(left);
    const Signs* b = of(right);
    const auto by = [](const Signs* signs, Axis axis) {
      return signs != nullptr && signs->kind == Signs::Kind::kPerVector && signs->axis == axis;
    };
    if (by(a, Axis::kColumns) && by(b, Axis::kRows)) return a->which == b->which;
    if (a == nullptr && by(b, Axis::kColumns)) return carry(op, *b);
    if (b == nullptr && by(a, Axis::kRows)) return carry(op, *a);
    if (b == nullptr && by(a, Axis::kColumns)) return is_diagonal(right) && carry(op, *a);
    if (a == nullptr && by(b, Axis::kRows)) return is_diagonal(left) && carry(op, *b);
    return false;
  }

  bool times(const ir::Op& op) {
    const ir::ValueId left = tensor(op, 0);
    const ir::ValueId right = tensor(op, 1);
    const Signs* a = left == ir::kNoValue ? nullptr : of(left);
    const Signs* b = right == ir::kNoValue ? nullptr : of(right);
    const Signs& signs = a != nullptr ? *a : *b;
    const ir::ValueId from = a != nullptr ? left : right;
    if (signs.kind == Signs::Kind::kUnknown) return false;
    if (a != nullptr && b != nullptr) {
      const bool whole = signs.kind == Signs::Kind::kWhole;
      return *a == *b && (whole || graph_.type(left).shape == graph_.type(right).shape);
    }
    return (signs.kind == Signs::Kind::kWhole || same_matrices(from, op.result())) &&
           carry(op, signs);
  }

  bool swap(const ir::Op& op) {
    const ir::ValueId self = tensor(op, 0);
    Signs signs = *of(self);
    if (signs.kind == Signs::Kind::kWhole) return carry(op, signs);
    if (signs.kind != Signs::Kind::kPerVector) return false;
    const std::int64_t count = rank(self);
    Numbers order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](std::int64_t dim) -> std::int64_t& {
      return order[static_cast<std::size_t>(dim < 0 ? dim + count : dim)];
    };
    if (op.signature->name == "aten::permute") {
      const auto* dims = std::get_if<Numbers>(&op.argument("dims"));
      if (dims == nullptr) return false;
      for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = (*dims)[i] < 0 ? (*dims)[i] + count : (*dims)[i];
      }
    } else if (op.signature->name == "aten::transpose") {
      const auto first = integer(op, "dim0");
      const auto second = integer(op, "dim1");
      if (!first || !second) return false;
      std::swap(at(*first), at(*second));
    } else {
      std::swap(at(-1), at(-2));
    }
    const std::int64_t from = dim_of(self, signs);
    const auto now = std::find(order.begin(), order.end(), from) - order.begin();
    if (now < count - 2) return false;
    signs.axis = now == count - 1 ? Axis::kColumns : Axis::kRows;
    return carry(op, std::move(signs));
  }

  bool slice(const ir::Op& op) {
    const ir::ValueId self = tensor(op, 0);
    Signs signs = *of(self);
    if (signs.kind != Signs::Kind::kPerVector) {
      return signs.kind == Signs::Kind::kWhole && carry(op, signs);
    }
    std::int64_t dim = integer(op, "dim").value_or(0);
    if (dim < 0) dim += rank(self);
    if (dim != dim_of(self, signs)) return carry(op, std::move(signs));
    const auto size = static_cast<std::int64_t>(signs.which.size());
    const auto clamped = [&](std::int64_t place) {
      return std::clamp<std::int64_t>(place < 0 ? place + size : place, 0, size);
    };
    const std::int64_t end = clamped(integer(op, "end").value_or(size));
    const std::int64_t step = integer(op, "step").value_or(1);
    Numbers kept;
    for (std::int64_t i = clamped(integer(op, "start").value_or(0)); i < end; i += step) {
      kept.push_back(signs.which[static_cast<std::size_t>(i)]);
    }
    signs.which = std::move(kept);
    return carry(op, std::move(signs));
  }

  /// Returns the vector at an index along the vectors' own dimension; otherwise empty.
  std::optional<std::int64_t> vector_at(const ir::Op& op, ir::ValueId self,
                                        const Signs& signs) const {
    std::int64_t dim = integer(op, "dim").value_or(0);
    std::int64_t index = integer(op, "index").value_or(0);
    if (dim < 0) dim += rank(self);
    if (dim != dim_of(self, signs)) return std::nullopt;
    if (index < 0) index += static_cast<std::int64_t>(signs.which.size());
    return signs.which.at(static_cast<std::size_t>(index));
  }

  bool select(const ir::Op& op) {
    const ir::ValueId self = tensor(op, 0);
    const Signs signs = *of(self);
    if (signs.kind == Signs::Kind::kWhole) return carry(op, signs);
    if (signs.kind != Signs::Kind::kPerVector) return false;
    if (const auto vector = vector_at(op, self, signs)) {
      return carry(op, {Signs::Kind::kWhole, Axis::kColumns, {*vector}});
    }
    return same_matrices(self, op.result()) && carry(op, signs);
  }

  bool join(const ir::Op& op) {
    const auto* parts = std::get_if<std::vector<ir::ValueRef>>(&op.arguments[0]);
    if (parts == nullptr) return false;
    Signs joined;
    for (const ir::ValueRef part : *parts) {
      const Signs* signs = of(part.id);
      if (signs == nullptr || signs->kind != Signs::Kind::kPerVector) return false;
      std::int64_t dim = integer(op, "dim").value_or(0);
      if (dim < 0) dim += rank(part.id);
      if (dim != dim_of(part.id, *signs)) return false;
      if (joined.kind == Signs::Kind::kPerVector && joined.axis != signs->axis) return false;
      joined.kind = signs->kind;
      joined.axis = signs->axis;
      joined.which.insert(joined.which.end(), signs->which.begin(), signs->which.end());
    }
    return carry(op, std::move(joined));
  }

  /// Returns a vector that is written back to its original position.
  bool put(const ir::Op& op) {
    const ir::ValueId self = tensor(op, 0);
    const Signs* into = of(self);
    const Signs* from = of(tensor(op, 1));
    if (into == nullptr || from == nullptr) return false;
    if (into->kind != Signs::Kind::kPerVector || from->kind != Signs::Kind::kWhole) return false;
    const auto vector = vector_at(op, self, *into);
    return vector && from->which == Numbers{*vector} && carry(op, *into);
  }

  bool determinant(const ir::Op& op) {
    const Signs* signs = of(tensor(op, 0));
    if (signs->kind != Signs::Kind::kPerVector) return false;
    Numbers sorted = signs->which;
    std::sort(sorted.begin(), sorted.end());
    Numbers all(sorted.size());
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all) return false;
    for (const ir::Result& result : op.results) {
      for (const ir::ValueId id : result.values) signs_[id] = {};
    }
    return carry(op, {Signs::Kind::kWhole, Axis::kColumns, {kAllSigns}});
  }

  const ir::Graph& graph_;
  std::unordered_map<ir::ValueId, Signs> signs_;
};

}  // namespace

bool signs_cancel(const ir::Graph& graph, const std::vector<FreeVectors>& vectors) {
  return Follower(graph, vectors).run();
}

}  // namespace leapp::onnx_export
