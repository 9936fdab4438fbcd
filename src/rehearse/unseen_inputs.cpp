#include "rehearse/unseen_inputs.h"

#include <ATen/ATen.h>

#include <limits>

namespace leapp::rehearse {
namespace {

bool is_integer(const at::Tensor& tensor) {
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

// All traced values, in one row.
at::Tensor all_of(const std::vector<at::Tensor>& traced) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& each : traced) rows.push_back(each.reshape({-1}));
  return at::cat(rows);
}

at::Tensor uniform_like(const at::Tensor& tensor, at::Generator& random) {
  return at::rand(tensor.sizes(), random, at::TensorOptions(at::kFloat)).to(tensor.device());
}

at::Tensor in_range(const std::vector<at::Tensor>& traced, at::Generator& random) {
  const at::Tensor& last = traced.back();
  const at::Tensor values = all_of(traced);
  const at::Tensor part = uniform_like(last, random);
  if (last.scalar_type() == at::kBool) {
    const bool varies = values.any().item<bool>() && !values.all().item<bool>();
    return varies ? part.lt(0.5) : last.clone();
  }
  if (is_integer(last)) {
    const auto least = values.min().item<std::int64_t>();
    const auto width = static_cast<double>(values.max().item<std::int64_t>() - least);
    return part.to(at::kDouble)
        .mul(width + 1)
        .floor()
        .clamp(0, width)
        .to(last.scalar_type())
        .add(least);
  }
  const at::Tensor finite = values.masked_select(values.isfinite());
  if (finite.numel() == 0) return last.clone();
  const at::Tensor least = finite.min();
  return part.to(last.scalar_type()).mul(finite.max().sub(least)).add(least);
}

// The largest and the smallest number, alternating.
at::Tensor extreme_like(const at::Tensor& tensor) {
  double most = std::numeric_limits<float>::max();
  if (tensor.scalar_type() == at::kDouble) most = std::numeric_limits<double>::max();
  if (tensor.scalar_type() == at::kHalf) most = 65504;
  const at::Tensor odd = at::arange(tensor.numel(), tensor.options().dtype(at::kLong)).remainder(2);
  return odd.eq(0)
      .to(at::kDouble)
      .mul(2)
      .sub(1)
      .mul(most)
      .to(tensor.scalar_type())
      .reshape(tensor.sizes());
}

}  // namespace

at::Tensor make_unseen(Unseen kind, const std::vector<at::Tensor>& traced, at::Generator& random) {
  const at::Tensor& last = traced.back();
  if (last.numel() == 0 || last.is_complex()) return last.clone();
  if (kind == Unseen::kInRange) return in_range(traced, random);
  if (kind == Unseen::kPermuted) {
    const at::Tensor order = at::randperm(last.numel(), random, at::TensorOptions(at::kLong));
    return last.reshape({-1}).index_select(0, order.to(last.device())).reshape(last.sizes());
  }
  if (!last.is_floating_point()) return last.clone();
  switch (kind) {
    case Unseen::kScaled:
      return last.mul(3);
    case Unseen::kFlipped:
      return last.neg();
    case Unseen::kZeros:
      return at::zeros_like(last);
    default:
      return extreme_like(last);
  }
}

at::Tensor nudged(const at::Tensor& tensor, at::Generator& random) {
  if (!tensor.is_floating_point() || tensor.numel() == 0) return tensor;
  const bool coarse = tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
  const double step = coarse ? 1e-2 : 2e-6;
  const at::Tensor noise = uniform_like(tensor, random).mul(2).sub(1).to(tensor.scalar_type());
  return tensor.mul(noise.mul(step).add(1)).add(noise.mul(step * 1e-2));
}

at::Tensor limit_magnitude(const at::Tensor& tensor) {
  constexpr double kLarge = 1e3;
  return tensor.is_floating_point() ? tensor.to(at::kDouble).clamp(-kLarge, kLarge).to(tensor)
                                    : tensor;
}

}  // namespace leapp::rehearse
