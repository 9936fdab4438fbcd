#include "export/cpp/value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "base/check.h"

namespace leapp::cpp_export {
namespace {

template <typename T>
Value filled_with(T number, DType dtype, Shape shape) {
  Value value{.dtype = dtype, .shape = std::move(shape)};
  value.at = [text = number_text(number, dtype)](const Indices&) { return text; };
  return value;
}

std::string float_text(double number, DType dtype) {
  const bool is_single = dtype == DType::kFloat32;
  const std::string type = "<" + type_text(dtype) + ">";
  if (std::isnan(number)) return "kNan" + type;
  if (std::isinf(number))
    return (number < 0 ? "(-kInfinity" : "kInfinity") + type + (number < 0 ? ")" : "");
  std::array<char, 40> buffer{};
  // The shortest text that is read back as the same number.
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, number);
    const double back = std::strtod(buffer.data(), nullptr);
    if (is_single ? static_cast<float>(back) == static_cast<float>(number) : back == number) break;
  }
  std::string text = buffer.data();
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (is_single) text += "f";
  return text.front() == '-' ? "(" + text + ")" : text;
}

template <typename T>
std::string wrapped_text(std::int64_t number, DType dtype) {
  const auto wrapped = static_cast<T>(number);
  // The lowest integer has no literal, because its sign is an operator on a number that is too
  // large.
  if (sizeof(T) == 8 && std::is_signed_v<T> && wrapped == std::numeric_limits<T>::min()) {
    return "std::numeric_limits<std::int64_t>::min()";
  }
  return type_text(dtype) + "{" + std::to_string(wrapped) + (std::is_signed_v<T> ? "" : "U") + "}";
}

// Wraps around to the type, as PyTorch converts a number to the type of a tensor.
std::string integer_text(std::int64_t number, DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return wrapped_text<std::int8_t>(number, dtype);
    case DType::kUInt8:
      return wrapped_text<std::uint8_t>(number, dtype);
    case DType::kInt16:
      return wrapped_text<std::int16_t>(number, dtype);
    case DType::kUInt16:
      return wrapped_text<std::uint16_t>(number, dtype);
    case DType::kInt32:
      return wrapped_text<std::int32_t>(number, dtype);
    case DType::kUInt32:
      return wrapped_text<std::uint32_t>(number, dtype);
    case DType::kInt64:
      return wrapped_text<std::int64_t>(number, dtype);
    case DType::kUInt64:
      return wrapped_text<std::uint64_t>(number, dtype);
    default:
      break;
  }
  demand(false, "a number whose type has no C++ integer");
  return {};
}

// Returns the kernel into which the operator can be fused: all other operands are numbers.
std::shared_ptr<const Pending> kept_pending(DType dtype, const Shape& shape,
                                            const std::vector<Value>& operands) {
  std::shared_ptr<const Pending> pending;
  for (const Value& operand : operands) {
    if (operand.pending && (pending || operand.dtype != dtype || operand.shape != shape)) return {};
    if (operand.pending) pending = operand.pending;
    const bool is_number = operand.strides && operand.strides->empty();
    if (!operand.pending && (!is_number || operand.cost > 0)) return {};
  }
  return pending;
}

}  // namespace

std::string type_text(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    default:
      return "std::" + std::string(name_of(dtype)) + "_t";
  }
}

std::string number_text(double number, DType dtype) {
  if (is_floating_point(dtype)) return float_text(number, dtype);
  if (dtype == DType::kBool) return number != 0 ? "true" : "false";
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  const bool fits = number >= -kLimit && number < kLimit;
  const std::int64_t whole =
      fits ? static_cast<std::int64_t>(number) : std::numeric_limits<std::int64_t>::min();
  return number_text(whole, dtype);
}

std::string number_text(std::int64_t number, DType dtype) {
  if (is_floating_point(dtype)) return float_text(static_cast<double>(number), dtype);
  if (dtype == DType::kBool) return number != 0 ? "true" : "false";
  return integer_text(number, dtype);
}

Value filled(double number, DType dtype, Shape shape) {
  return filled_with(number, dtype, std::move(shape));
}

Value filled(std::int64_t number, DType dtype, Shape shape) {
  return filled_with(number, dtype, std::move(shape));
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    if (shape[i + shift] == 1) shape[i + shift] = shorter[i];
  }
  return shape;
}

Value resolved(const Value& value) {
  return value.pending ? value.pending->resolve(value) : value;
}

Value pointwise(DType dtype, const Shape& shape, std::vector<Value> operands, Render render) {
  Value result{.dtype = dtype, .shape = shape};
  result.cost = 1;
  result.pending = kept_pending(dtype, shape, operands);
  if (!result.pending) {
    for (Value& operand : operands) operand = resolved(operand);
  }
  for (Value& operand : operands) {
    operand = expanded(operand, shape);
    result.cost += operand.cost;
    result.origins.insert(operand.origins.begin(), operand.origins.end());
    if (!operand.strides) {
      result.strides.reset();
    } else if (result.strides) {
      result.strides->insert(result.strides->end(), operand.strides->begin(),
                             operand.strides->end());
    }
  }
  result.at = [operands = std::move(operands), render = std::move(render)](const Indices& index) {
    std::vector<std::string> texts;
    for (const Value& operand : operands) texts.push_back(operand.at(index));
    return render(texts);
  };
  return result;
}

Value cast(const Value& value, DType dtype) {
  if (value.dtype == dtype) return value;
  Value result =
      pointwise(dtype, value.shape, {value}, [dtype](const std::vector<std::string>& texts) {
        return "to<" + type_text(dtype) + ">(" + texts[0] + ")";
      });
  result.cost = value.cost;  // cheaper than memory
  return result;
}

Value view(const Value& given, Shape shape, IndexMap map, StrideMap strides) {
  const Value value = resolved(given);
  Value result = value;
  result.buffer = kNoBuffer;
  result.shape = std::move(shape);
  result.at = [at = value.at, map = std::move(map)](const Indices& index) {
    return at(map(index));
  };
  if (!strides) result.strides.reset();
  if (result.strides) {
    for (Shape& each : *result.strides) each = strides(each);
  }
  return result;
}

Value expanded(const Value& value, const Shape& shape) {
  if (value.shape == shape) return value;
  const std::size_t shift = shape.size() - value.shape.size();
  const Shape from = value.shape;
  return view(
      value, shape,
      [from, shift](const Indices& index) {
        Indices own;
        for (std::size_t i = 0; i < from.size(); ++i) {
          own.push_back(from[i] == 1 ? Index(0) : index[i + shift]);
        }
        return own;
      },
      [from, shift](const Shape& strides) {
        Shape wide(shift, 0);
        for (std::size_t i = 0; i < from.size(); ++i) wide.push_back(from[i] == 1 ? 0 : strides[i]);
        return wide;
      });
}

Value permuted(const Value& value, const std::vector<std::int64_t>& order) {
  Shape shape;
  for (const std::int64_t dim : order) shape.push_back(value.shape[static_cast<std::size_t>(dim)]);
  return view(
      value, shape,
      [order](const Indices& index) {
        Indices own(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
          own[static_cast<std::size_t>(order[i])] = index[i];
        }
        return own;
      },
      [order](const Shape& strides) {
        Shape moved;
        for (const std::int64_t dim : order) {
          moved.push_back(strides[static_cast<std::size_t>(dim)]);
        }
        return moved;
      });
}

Value transposed(const Value& value, std::int64_t a, std::int64_t b) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < value.rank(); ++i) order.push_back(i);
  std::swap(order.at(static_cast<std::size_t>(a)), order.at(static_cast<std::size_t>(b)));
  return permuted(value, order);
}

Value sliced(const Value& value, std::int64_t dim, std::int64_t begin, std::int64_t count,
             std::int64_t step) {
  const auto at = static_cast<std::size_t>(dim);
  Shape shape = value.shape;
  if (begin == 0 && step == 1 && count == shape[at]) return value;
  shape[at] = count;
  return view(
      value, shape,
      [at, begin, step](Indices index) {
        index[at] = index[at].times(step).plus(begin);
        return index;
      },
      [at, step](Shape strides) {
        strides[at] *= step;
        return strides;
      });
}

Value selected(const Value& value, std::int64_t dim, const Index& place) {
  const auto at = static_cast<std::ptrdiff_t>(dim);
  Shape shape = value.shape;
  shape.erase(shape.begin() + at);
  return view(
      value, shape,
      [at, place](Indices index) {
        index.insert(index.begin() + at, place);
        return index;
      },
      [at](Shape strides) {
        strides.erase(strides.begin() + at);
        return strides;
      });
}

Value guarded(const Value& value, Shape shape, IndexMap map, Condition condition,
              const Value& otherwise) {
  Value result = view(value, shape, std::move(map));
  result.cost = value.cost + otherwise.cost + 1;
  result.origins.insert(otherwise.origins.begin(), otherwise.origins.end());
  result.at = [inside = result.at, outside = expanded(otherwise, shape),
               condition = std::move(condition)](const Indices& index) {
    const std::string holds = condition(index);
    if (holds == "true") return inside(index);
    return "(" + holds + " ? " + inside(index) + " : " + outside.at(index) + ")";
  };
  return result;
}

Value unsqueezed(const Value& given, std::int64_t dim) {
  const Value value = resolved(given);
  const auto at = static_cast<std::ptrdiff_t>(dim);
  Shape shape = value.shape;
  shape.insert(shape.begin() + at, 1);
  Value result = view(
      value, shape,
      [at](Indices index) {
        index.erase(index.begin() + at);
        return index;
      },
      [at](Shape strides) {
        strides.insert(strides.begin() + at, 0);
        return strides;
      });
  result.buffer = value.buffer;
  return result;
}

Value squeezed(const Value& given, std::int64_t dim) {
  const Value value = resolved(given);
  Value result = selected(value, dim, 0);
  result.buffer = value.buffer;
  return result;
}

}  // namespace leapp::cpp_export
