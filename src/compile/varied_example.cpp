#include "compile/varied_example.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>

namespace leapp::compile {

at::Tensor varied_example(const at::Tensor& example, std::int64_t pass, std::int64_t input) {
  const at::NoGradGuard no_grad;
  const at::Tensor copy = example.detach().clone();
  if (pass == 0 || copy.numel() == 0 || !copy.is_floating_point()) return copy;
  at::Generator random =
      at::detail::createCPUGenerator(static_cast<std::uint64_t>(pass * 1000 + input));
  const at::Tensor sizes = copy.to(at::kDouble).abs();
  const at::Tensor finite = sizes.masked_select(sizes.isfinite());
  double largest = finite.numel() == 0 ? 0.0 : finite.max().item<double>();
  if (largest == 0.0) largest = 1.0;
  const at::Tensor noise = at::randn(copy.sizes(), random, at::TensorOptions(at::kFloat));
  return copy.add(noise.mul(largest / 10).to(copy.options()));
}

}  // namespace leapp::compile
