#include "trace/dynamic_dims.h"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <string>

#include "trace/op_traits.h"

namespace leapp::trace {
namespace {

// Returns another size. It is never one, which is special, and a multiple of the size, which may be
// a product of rows and columns.
std::int64_t other_size(std::int64_t size) {
  constexpr std::int64_t kDivisible = 5040;
  return size == 0 ? kDivisible : 3 * size;
}

bool varies(DynamicDims dims, std::size_t dim) {
  return dim < 64 && ((dims >> dim) & 1U) != 0;
}

// A call with stand-ins for its tensors, with the traced sizes or with others.
class StandIns {
 public:
  StandIns(const torch::jit::Stack& arguments, const std::vector<DynamicDims>& dynamic,
           c10::Device device)
      : arguments_(arguments), dynamic_(dynamic), device_(device) {}

  // Returns the operator's results for them, or nothing if it refuses.
  std::optional<std::vector<at::Tensor>> run(const c10::OperatorHandle& op, bool other) const {
    try {
      torch::jit::Stack stack = arguments(other);
      op.callBoxed(&stack);
      return tensors_in(stack.data(), stack.size());
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

 private:
  // Zeros, which are also valid indices for any dimension.
  at::Tensor stand_in(const at::Tensor& tensor, DynamicDims dims, bool other) const {
    if (!tensor.defined()) return tensor;
    const at::TensorOptions options = tensor.options().device(device_).requires_grad(false);
    if (dims == 0 || !other) {
      return at::empty_strided(tensor.sizes(), tensor.strides(), options).zero_();
    }
    std::vector<std::int64_t> sizes = tensor.sizes().vec();
    for (std::size_t d = 0; d < sizes.size(); ++d)
      sizes[d] = varies(dims, d) ? other_size(sizes[d]) : sizes[d];
    return at::zeros(sizes, options);
  }

  // Masks are replaced by the indices that they select.
  void add_index(const at::Tensor& index, DynamicDims dims, bool other,
                 c10::List<std::optional<at::Tensor>>& items) const {
    if (!is_mask(index)) {
      items.push_back(stand_in(index, dims, other));
      return;
    }
    const auto now = index.count_nonzero().item<std::int64_t>();
    const std::int64_t count = other && dims != 0 ? other_size(now) : now;
    for (std::int64_t d = 0; d < index.dim(); ++d) {
      items.push_back(at::zeros({count}, at::TensorOptions(at::kLong).device(device_)));
    }
  }

  torch::jit::Stack arguments(bool other) const {
    torch::jit::Stack made;
    std::size_t next = 0;
    for (const c10::IValue& value : arguments_) {
      if (value.isTensor()) {
        made.emplace_back(stand_in(value.toTensor(), dynamic_[next++], other));
      } else if (value.isOptionalTensorList()) {
        c10::List<std::optional<at::Tensor>> items;
        for (const c10::IValue& item : value.toListRef()) {
          const DynamicDims dims = dynamic_[next++];
          if (item.isTensor() && item.toTensor().defined()) {
            add_index(item.toTensor(), dims, other, items);
          } else {
            items.push_back(std::nullopt);
          }
        }
        made.emplace_back(std::move(items));
      } else if (value.isTensorList()) {
        c10::List<at::Tensor> items;
        for (const c10::IValue& item : value.toListRef()) {
          items.push_back(stand_in(item.toTensor(), dynamic_[next++], other));
        }
        made.emplace_back(std::move(items));
      } else if (value.isDevice()) {
        made.emplace_back(device_);
      } else {
        made.push_back(value);
      }
    }
    return made;
  }

  const torch::jit::Stack& arguments_;
  const std::vector<DynamicDims>& dynamic_;
  c10::Device device_;
};

// Small tensors are zeros on the CPU. Meta tensors cost nothing, but many of their kernels are
// written in Python, and the first one takes seconds for imports.
std::vector<c10::Device> devices_for(const std::vector<at::Tensor>& tensors) {
  constexpr std::int64_t kSmall = 1 << 14;
  const bool small = std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
    return !tensor.defined() || tensor.numel() <= kSmall;
  });
  if (small) return {at::kCPU, at::kMeta};
  return {at::kMeta};
}

// A guess without knowing the operator: sizes of results that equal a dynamic one are dynamic.
std::vector<DynamicDims> by_size(const std::vector<at::Tensor>& arguments,
                                 const std::vector<DynamicDims>& dynamic,
                                 const std::vector<at::Tensor>& results) {
  std::vector<DynamicDims> found;
  for (const at::Tensor& result : results) {
    DynamicDims dims = 0;
    for (std::int64_t d = 0; result.defined() && d < std::min<std::int64_t>(result.dim(), 64);
         ++d) {
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (dynamic[i] == 0) continue;
        for (std::int64_t k = 0; k < arguments[i].dim(); ++k) {
          const bool same = varies(dynamic[i], static_cast<std::size_t>(k)) &&
                            arguments[i].size(k) == result.size(d);
          if (same) dims |= DynamicDims{1} << d;
        }
      }
    }
    found.push_back(dims);
  }
  return found;
}

// Index of the tensor that decides the shape of the result; -1: the masks in an index.
int deciding_argument(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  if (name == "aten::index") return -1;
  const bool second = name == "aten::masked_select" || op.schema().overload_name() == "self_Tensor";
  return second ? 1 : 0;
}

// The dynamic dimensions of an operator whose results have a data-dependent shape.
std::vector<DynamicDims> data_dependent_dims(const c10::OperatorHandle& op,
                                             const torch::jit::Stack& arguments,
                                             const std::vector<at::Tensor>& results) {
  std::vector<DynamicDims> found(results.size(), 1);
  const std::string& name = op.schema().name();
  const bool unique = name.find("unique") != std::string::npos;
  if (unique && found.size() > 1) found[1] = 0;  // the new position of each element
  // A minimum that was not exceeded is assumed to be the size that the program expects.
  if (name == "aten::bincount") found[0] = results[0].size(0) > arguments[2].toInt() ? 1 : 0;
  const auto position = op.schema().argumentIndexWithName("dim");
  if (position && arguments[static_cast<std::size_t>(*position)].isInt()) {
    const at::Tensor& self = arguments[0].toTensor();
    const std::int64_t dim = arguments[static_cast<std::size_t>(*position)].toInt();
    found[0] = DynamicDims{1} << std::min<std::int64_t>(dim < 0 ? dim + self.dim() : dim, 63);
  }
  return found;
}

}  // namespace

std::vector<DynamicDims> dynamic_dims_of_arguments(
    const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
    const std::function<DynamicDims(const at::Tensor&)>& known,
    const std::function<bool(const at::Tensor&)>& is_traced) {
  const bool decides = traits_of(op).has_data_dependent_shape(arguments);
  const int deciding = decides ? deciding_argument(op) : -1;
  std::vector<DynamicDims> dynamic;
  const auto add = [&](const c10::IValue& value, bool may_decide) {
    DynamicDims dims = 0;
    if (value.isTensor() && value.toTensor().defined()) {
      dims = known(value.toTensor());
      if (may_decide && is_traced(value.toTensor())) dims |= 1;
    }
    dynamic.push_back(dims);
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].isTensor()) {
      add(arguments[i], static_cast<int>(i) == deciding);
    } else if (arguments[i].isTensorList() || arguments[i].isOptionalTensorList()) {
      for (const c10::IValue& item : arguments[i].toListRef()) {
        add(item,
            decides && item.isTensor() && item.toTensor().defined() && is_mask(item.toTensor()));
      }
    }
  }
  const bool any =
      std::any_of(dynamic.begin(), dynamic.end(), [](DynamicDims dims) { return dims; });
  return any ? dynamic : std::vector<DynamicDims>();
}

std::vector<at::Tensor> tensors_in(const c10::IValue* values, std::size_t count) {
  std::vector<at::Tensor> found;
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i].isTensor()) {
      found.push_back(values[i].toTensor());
    } else if (values[i].isTensorList() || values[i].isOptionalTensorList()) {
      for (const c10::IValue& item : values[i].toListRef()) {
        found.push_back(item.isTensor() ? item.toTensor() : at::Tensor());
      }
    }
  }
  return found;
}

SizeTrial try_other_sizes(const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
                          const std::vector<DynamicDims>& dynamic,
                          const torch::jit::Stack& results) {
  const std::vector<at::Tensor> given = tensors_in(arguments.data(), arguments.size());
  const std::vector<at::Tensor> returned = tensors_in(results.data(), results.size());
  SizeTrial trial{by_size(given, dynamic, returned)};
  const OpTraits& traits = traits_of(op);
  if (traits.mutates || traits.may_be_random) return trial;
  if (traits.has_data_dependent_shape(arguments) && op.schema().name() != "aten::index") {
    trial.results = data_dependent_dims(op, arguments, returned);
    return trial;
  }
  std::optional<std::vector<at::Tensor>> as_it_was;
  std::optional<std::vector<at::Tensor>> other;
  for (const c10::Device device : devices_for(given)) {
    const StandIns stand_ins(arguments, dynamic, device);
    as_it_was = stand_ins.run(op, false);
    other = as_it_was ? stand_ins.run(op, true) : std::nullopt;
    if (other) break;
  }
  if (!as_it_was) return trial;
  trial.fixed = !other || other->size() != as_it_was->size();
  if (trial.fixed) {  // specialised, so the results are static
    trial.results.assign(returned.size(), 0);
    return trial;
  }
  if (other->size() != returned.size()) return trial;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    if (!returned[i].defined() || !(*other)[i].defined()) continue;
    const auto before = (*as_it_was)[i].sizes();
    const auto after = (*other)[i].sizes();
    trial.results[i] = 0;
    trial.fixed |= before.size() != after.size();
    for (std::size_t d = 0; d < std::min(before.size(), after.size()) && d < 64; ++d) {
      if (before[d] != after[d]) trial.results[i] |= DynamicDims{1} << d;
    }
  }
  return trial;
}

}  // namespace leapp::trace
