#include "interop/convert.h"

#include <ATen/ops/from_blob.h>

#include <mutex>
#include <unordered_map>

#include "base/check.h"

namespace leapp::interop {
namespace {

struct Pair {
  DType ours;
  c10::ScalarType theirs;
};

constexpr Pair kTypes[] = {
    {DType::kBool, c10::ScalarType::Bool},
    {DType::kUInt8, c10::ScalarType::Byte},
    {DType::kInt8, c10::ScalarType::Char},
    {DType::kUInt16, c10::ScalarType::UInt16},
    {DType::kInt16, c10::ScalarType::Short},
    {DType::kUInt32, c10::ScalarType::UInt32},
    {DType::kInt32, c10::ScalarType::Int},
    {DType::kUInt64, c10::ScalarType::UInt64},
    {DType::kInt64, c10::ScalarType::Long},
    {DType::kFloat8E4M3FN, c10::ScalarType::Float8_e4m3fn},
    {DType::kFloat8E5M2, c10::ScalarType::Float8_e5m2},
    {DType::kFloat16, c10::ScalarType::Half},
    {DType::kBFloat16, c10::ScalarType::BFloat16},
    {DType::kFloat32, c10::ScalarType::Float},
    {DType::kFloat64, c10::ScalarType::Double},
    {DType::kComplex64, c10::ScalarType::ComplexFloat},
    {DType::kComplex128, c10::ScalarType::ComplexDouble},
};

const c10::Type& unwrap_optional(const c10::Type& type) {
  if (const auto* optional = type.castRaw<c10::OptionalType>()) return *optional->getElementType();
  return type;
}

}  // namespace

DType to_dtype(c10::ScalarType type) {
  for (const Pair& pair : kTypes) {
    if (pair.theirs == type) return pair.ours;
  }
  throw Error(Code::kUnsupportedType,
              std::string("tensors of type ") + c10::toString(type) +
                  " are not supported; convert the tensor first, for example "
                  "with .float()");
}

c10::ScalarType to_scalar_type(DType dtype) noexcept {
  for (const Pair& pair : kTypes) {
    if (pair.ours == dtype) return pair.theirs;
  }
  return c10::ScalarType::Undefined;
}

ir::TensorType type_of(const at::Tensor& tensor) {
  return {to_dtype(tensor.scalar_type()), tensor.sizes().vec(), tensor.device().str()};
}

ir::Blob to_blob(const at::Tensor& tensor) {
  // resolve_*: a conjugated or negated view stores a flag instead of changing the bytes.
  const at::Tensor host = tensor.detach().resolve_conj().resolve_neg().to(at::kCPU).contiguous();
  auto owner = std::make_shared<at::Tensor>(host);
  const auto* bytes = static_cast<const std::byte*>(owner->const_data_ptr());
  return {std::shared_ptr<const std::byte>(std::move(owner), bytes), type_of(tensor)};
}

at::Tensor to_tensor(const ir::Blob& blob) {
  const auto options = at::TensorOptions().dtype(to_scalar_type(blob.type.dtype));
  // from_blob requires a mutable pointer, but the tensor is never written to.
  auto* data = const_cast<std::byte*>(blob.data.get());
  at::Tensor host = at::from_blob(
      data, blob.type.shape, [keep = blob.data](void*) {}, options);
  return blob.type.device == "cpu" ? host : host.to(c10::Device(blob.type.device));
}

at::Tensor on_host(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) {
    return tensor;
  }
  return tensor.detach().resolve_conj().resolve_neg().to(at::kCPU).contiguous();
}

ConstTensorView view_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr(), to_dtype(tensor.scalar_type()), tensor.sizes().vec()};
}

ir::Argument to_argument(const c10::IValue& value, const c10::Type& declared) {
  if (value.isNone()) return std::monostate{};
  const c10::Type& type = unwrap_optional(declared);
  if (value.isInt()) {
    if (type.kind() == c10::TypeKind::ScalarTypeType) {
      return to_dtype(static_cast<c10::ScalarType>(value.toInt()));
    }
    return value.toInt();
  }
  if (value.isSymInt()) return value.toSymInt().guard_int(__FILE__, __LINE__);
  if (value.isDouble()) return value.toDouble();
  if (value.isBool()) return value.toBool();
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return ir::Device{value.toDevice().str()};
  if (value.isComplexDouble()) {
    const auto number = value.toComplexDouble();
    return std::complex<double>(number.real(), number.imag());
  }
  if (value.isIntList()) return value.toIntVector();
  if (value.isDoubleList()) return value.toDoubleVector();
  if (value.isBoolList()) {
    const auto list = value.toBoolList();
    return std::vector<bool>(list.begin(), list.end());
  }
  if (value.isSymIntList()) {
    std::vector<std::int64_t> sizes;
    for (const auto& size : value.toSymIntVector()) {
      sizes.push_back(size.guard_int(__FILE__, __LINE__));
    }
    return sizes;
  }
  if (value.isList()) {
    // A list of another type: numbers (Scalar[]) or strings. An empty list has no element that
    // shows its type.
    const auto list = value.toListRef();
    std::vector<double> numbers;
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
    for (const c10::IValue& item : list) {
      if (item.isString()) texts.push_back(item.toStringRef());
      if (item.isDouble()) numbers.push_back(item.toDouble());
      if (item.isInt()) integers.push_back(item.toInt());
    }
    if (!list.empty() && texts.size() == list.size()) return texts;
    if (!list.empty() && numbers.size() == list.size()) return numbers;
    if (integers.size() == list.size()) return integers;
  }
  throw Error(Code::kNotPure, "an argument of type " + value.tagKind() + " cannot be recorded");
}

std::shared_ptr<const ir::Signature> signature_of(const c10::OperatorHandle& op) {
  static std::mutex mutex;
  static std::unordered_map<c10::OperatorName, std::shared_ptr<const ir::Signature>> known;
  const std::lock_guard lock(mutex);
  auto& slot = known[op.operator_name()];
  if (!slot) {
    const c10::FunctionSchema& schema = op.schema();
    auto signature = std::make_shared<ir::Signature>();
    signature->name = schema.name();
    signature->overload = schema.overload_name();
    for (const c10::Argument& argument : schema.arguments()) {
      signature->parameters.push_back({argument.name(), argument.real_type()->str()});
    }
    for (const c10::Argument& result : schema.returns()) {
      signature->returns.push_back(result.real_type()->str());
    }
    slot = std::move(signature);
  }
  return slot;
}

}  // namespace leapp::interop
