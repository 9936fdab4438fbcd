#include "trace/argument.h"

#include <sstream>

#include "trace/constant.h"

namespace leapp::trace {

bool same_argument(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() != b.isTensor()) return false;
  if (a.isTensor()) {
    if (a.toTensor().defined() != b.toTensor().defined()) return false;
    return !a.toTensor().defined() || same_value(a.toTensor(), b.toTensor());
  }
  if (a.isDouble() && b.isDouble()) {
    const bool both_nan = a.toDouble() != a.toDouble() && b.toDouble() != b.toDouble();
    return both_nan || a.toDouble() == b.toDouble();
  }
  return a.tagKind() == b.tagKind() && (a.isGenerator() || a == b);
}

std::string text_of(const c10::IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().numel() == 1 ? c10::toString(value.toTensor().item()) : "a tensor";
  }
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string text_of(const Arg& arg) {
  if (arg.kind == Arg::Kind::kValue) return text_of(arg.value);
  if (arg.kind == Arg::Kind::kTensor) return "a tensor";
  return std::to_string(arg.list_size) + (arg.list_size == 1 ? " tensor" : " tensors");
}

}  // namespace leapp::trace
