#include "ir/rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace leapp::ir {
namespace {

struct Call {
  const Graph& graph;
  const Op& op;
  const std::function<bool(ValueId)>& selected;

  ValueId tensor(std::string_view parameter) const {
    if (!op.has(parameter)) return kNoValue;
    const auto* ref = std::get_if<ValueRef>(&op.argument(parameter));
    return ref == nullptr ? kNoValue : ref->id;
  }
  bool is_selected(std::string_view parameter) const {
    const ValueId id = tensor(parameter);
    return id != kNoValue && selected(id);
  }
  std::int64_t rank(std::string_view parameter) const {
    const ValueId id = tensor(parameter);
    return id == kNoValue ? 0 : static_cast<std::int64_t>(graph.type(id).shape.size());
  }
  // Returns whether this is the only selected input.
  bool only(std::string_view parameter) const {
    const ValueId id = tensor(parameter);
    bool others = false;
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      if (op.signature->parameters[i].name == parameter) continue;
      for_each_value(op.arguments[i], [&](ValueId other) { others |= selected(other); });
    }
    return id != kNoValue && selected(id) && !others;
  }
  // Returns whether the argument, one or more of `dims` dimensions, excludes dimension 0.
  bool spares_rows(std::string_view parameter, std::int64_t dims) const {
    if (!op.has(parameter)) return false;
    const auto spares = [&](std::int64_t dim) { return (dim < 0 ? dim + dims : dim) > 0; };
    const Argument& argument = op.argument(parameter);
    if (const auto* dim = std::get_if<std::int64_t>(&argument)) return spares(*dim);
    const auto* list = std::get_if<std::vector<std::int64_t>>(&argument);
    return list != nullptr && !list->empty() && std::all_of(list->begin(), list->end(), spares);
  }
};

bool along_other_dim(const Call& call) {
  return call.only("self") && call.spares_rows("dim", call.rank("self"));
}

// Along another dimension, or over all rows, as older releases of PyTorch record the colon of x[:,
// 1].
bool slices(const Call& call) {
  if (along_other_dim(call)) return true;
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const auto is = [&](const char* parameter, std::int64_t value) {
    const Argument& argument = call.op.argument(parameter);
    return argument == Argument(value) || argument == Argument(std::monostate());
  };
  return call.only("self") && is("start", 0) && is("end", kEnd) && is("step", 1);
}

bool joins(const Call& call) {
  const auto* parts = std::get_if<std::vector<ValueRef>>(&call.op.argument("tensors"));
  if (parts == nullptr || parts->empty()) return false;
  const bool stack = call.op.signature->name == "aten::stack";
  std::int64_t rank = stack ? 1 : 0;
  for (const ValueRef part : *parts) {
    if (part.id == kNoValue || !call.selected(part.id)) return false;
  }
  rank += static_cast<std::int64_t>(call.graph.type(parts->front().id).shape.size());
  return call.spares_rows("dim", rank);
}

bool swaps_others(const Call& call) {
  const std::int64_t rank = call.rank("self");
  return call.only("self") && call.spares_rows("dim0", rank) && call.spares_rows("dim1", rank);
}

bool permutes_others(const Call& call) {
  const auto* dims = std::get_if<std::vector<std::int64_t>>(&call.op.argument("dims"));
  return call.only("self") && dims != nullptr && !dims->empty() && dims->front() == 0;
}

// reshape() infers the number of rows, and each row keeps its elements.
bool reshapes_rows(const Call& call) {
  const char* name = call.op.has("size") ? "size" : "shape";
  const auto* shape = std::get_if<std::vector<std::int64_t>>(&call.op.argument(name));
  if (!call.only("self") || shape == nullptr || shape->empty() || shape->front() != -1) {
    return false;
  }
  const auto product = [](auto begin, auto end) {
    std::int64_t count = 1;
    for (; begin != end; ++begin) count *= *begin;
    return count;
  };
  const Shape& before = call.graph.type(call.tensor("self")).shape;
  const std::int64_t each = product(before.begin() + 1, before.end());
  return each > 0 && product(shape->begin() + 1, shape->end()) == each;
}

bool expands_rows(const Call& call) {
  const auto* size = std::get_if<std::vector<std::int64_t>>(&call.op.argument("size"));
  return call.only("self") && size != nullptr && !size->empty() && size->front() == -1 &&
         static_cast<std::int64_t>(size->size()) == call.rank("self");
}

bool multiplies(const Call& call) {
  const char* right = call.op.has("mat2") ? "mat2" : "other";
  const std::int64_t rank = call.rank("self");
  if (call.is_selected(right)) {  // both: rows are the batch
    return call.is_selected("self") && rank >= 3 && call.rank(right) == rank;
  }
  return call.is_selected("self") && rank >= 2 && call.rank(right) <= 2;
}

bool is_linear(const Call& call) {
  return call.only("input") && call.rank("input") >= 2;
}

bool normalises_layer(const Call& call) {
  const auto* shape = std::get_if<std::vector<std::int64_t>>(&call.op.argument("normalized_shape"));
  return call.only("input") && shape != nullptr &&
         static_cast<std::int64_t>(shape->size()) < call.rank("input");
}

bool normalises_batch(const Call& call) {
  const char* flag = call.op.has("train") ? "train" : "training";
  const auto* training = call.op.has(flag) ? std::get_if<bool>(&call.op.argument(flag)) : nullptr;
  return call.only("input") && call.rank("input") >= 2 && training != nullptr && !*training;
}

// The spatial dimensions, a channel and the batch; without a batch there is one dimension less.
bool is_batch_of_images(const Call& call) {
  static const std::map<std::string_view, std::int64_t> ranks = {
      {"aten::conv1d", 3},     {"aten::conv2d", 4},     {"aten::conv3d", 5},
      {"aten::max_pool1d", 3}, {"aten::max_pool2d", 4}, {"aten::avg_pool2d", 4}};
  const char* name = call.op.has("input") ? "input" : "self";
  const auto it = ranks.find(call.op.signature->name);
  if (call.op.signature->name == "aten::convolution") {
    return call.only(name) && call.rank(name) == call.rank("weight");
  }
  return it != ranks.end() && call.only(name) && call.rank(name) == it->second;
}

bool flattens_others(const Call& call) {
  if (!call.only("self")) return false;
  const std::int64_t rank = call.rank("self");
  if (call.spares_rows("start_dim", rank)) return true;
  // Or rows with dimensions of size one, as in nonzero().flatten().
  const Shape& shape = call.graph.type(call.tensor("self")).shape;
  const auto* end = std::get_if<std::int64_t>(&call.op.argument("end_dim"));
  if (end == nullptr || rank == 0) return false;
  const auto last = static_cast<std::ptrdiff_t>(*end < 0 ? *end + rank : *end);
  return std::all_of(shape.begin() + 1, shape.begin() + last + 1,
                     [](std::int64_t size) { return size == 1; });
}

bool inserts_dim(const Call& call) {
  return call.only("self") && call.spares_rows("dim", call.rank("self") + 1);
}

// A cell of a recurrent network whose state has the same rows.
bool is_cell(const Call& call) {
  if (!call.is_selected("input") || call.rank("input") != 2) return false;
  bool states = true;
  for_each_value(call.op.argument("hx"), [&](ValueId id) { states = states && call.selected(id); });
  return states;
}

// Their argument `dim` contains the dimensions along which they work.
constexpr std::string_view kAlongDims[] = {"aten::_log_softmax", "aten::_softmax",
                                           "aten::all",          "aten::amax",
                                           "aten::amin",         "aten::any",
                                           "aten::argmax",       "aten::argmin",
                                           "aten::chunk",        "aten::cumprod",
                                           "aten::cumsum",       "aten::glu",
                                           "aten::index_select", "aten::linalg_cross",
                                           "aten::linalg_norm",  "aten::linalg_vector_norm",
                                           "aten::log_softmax",  "aten::logcumsumexp",
                                           "aten::logsumexp",    "aten::max",
                                           "aten::mean",         "aten::min",
                                           "aten::narrow",       "aten::norm",
                                           "aten::prod",         "aten::select",
                                           "aten::softmax",      "aten::sort",
                                           "aten::split",        "aten::split_with_sizes",
                                           "aten::squeeze",      "aten::std",
                                           "aten::sum",          "aten::topk",
                                           "aten::unbind",       "aten::var"};

using Rule = bool (*)(const Call&);

Rule rule_for(const std::string& name) {
  static const std::map<std::string_view, Rule> rules = [] {
    std::map<std::string_view, Rule> made = {
        {"aten::addmm", [](const Call& call) { return call.only("mat1"); }},
        {"aten::avg_pool2d", is_batch_of_images},
        {"aten::batch_norm", normalises_batch},
        {"aten::bmm", multiplies},
        {"aten::cat", joins},
        {"aten::conv1d", is_batch_of_images},
        {"aten::conv2d", is_batch_of_images},
        {"aten::conv3d", is_batch_of_images},
        {"aten::convolution", is_batch_of_images},
        {"aten::expand", expands_rows},
        {"aten::flatten", flattens_others},
        {"aten::gru_cell", is_cell},
        {"aten::layer_norm", normalises_layer},
        {"aten::linear", is_linear},
        {"aten::lstm_cell", is_cell},
        {"aten::matmul", multiplies},
        {"aten::max_pool1d", is_batch_of_images},
        {"aten::max_pool2d", is_batch_of_images},
        {"aten::mm", multiplies},
        {"aten::mv", multiplies},
        {"aten::native_batch_norm", normalises_batch},
        {"aten::native_layer_norm", normalises_layer},
        {"aten::permute", permutes_others},
        {"aten::reshape", reshapes_rows},
        {"aten::rms_norm", normalises_layer},
        {"aten::rnn_relu_cell", is_cell},
        {"aten::rnn_tanh_cell", is_cell},
        {"aten::slice", slices},
        {"aten::stack", joins},
        {"aten::transpose", swaps_others},
        {"aten::unsqueeze", inserts_dim},
        {"aten::view", reshapes_rows},
    };
    for (const std::string_view along : kAlongDims) made[along] = along_other_dim;
    return made;
  }();
  const auto it = rules.find(name);
  return it == rules.end() ? nullptr : it->second;
}

}  // namespace

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

bool is_rowwise(const Graph& graph, const Op& op, const std::function<bool(ValueId)>& selected) {
  const Rule rule = rule_for(op.signature->name);
  return rule != nullptr && rule(Call{graph, op, selected});
}

}  // namespace leapp::ir
