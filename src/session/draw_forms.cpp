#include "session/draw_forms.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace leapp::session {
namespace {

using at::Tensor;
using Values = std::vector<Tensor>;

/// The largest number of equally probable values that numbers in single precision tell apart.
constexpr double kMostValues = 1 << 20;

Tensor in_double(const Tensor& tensor) {
  return tensor.detach().to(at::kDouble);
}

/// Converts numbers to the type for arithmetic with the result.
Tensor for_result(const Draw& draw, const Tensor& numbers) {
  return draw.result().scalar_type() == at::kDouble ? numbers.to(at::kDouble) : numbers;
}

/// Returns (x - shift) / scale, where 0 / 0 = 0. The other arguments are numbers or tensors.
Tensor standardize(const Tensor& x, const c10::IValue& shift, const c10::IValue& scale) {
  const Tensor centred =
      shift.isTensor() ? x - in_double(shift.toTensor()) : x - shift.toScalar().toDouble();
  const Tensor quotient = scale.isTensor() ? centred / in_double(scale.toTensor())
                                           : centred / scale.toScalar().toDouble();
  return at::where(centred.eq(0), at::zeros_like(quotient), quotient);
}

/// Returns numbers * scale + shift.
Tensor transform(const Tensor& numbers, const c10::IValue& shift, const c10::IValue& scale) {
  Tensor value = numbers;
  if (scale.isTensor()) {
    value = value * scale.toTensor();
  } else if (scale.toScalar().toDouble() != 1) {
    value = value * scale.toScalar();
  }
  if (shift.isTensor()) return value + shift.toTensor();
  return shift.toScalar().toDouble() != 0 ? value + shift.toScalar() : value;
}

// randn() and rand(): the numbers themselves.

Tensor drawn_numbers(const Draw& draw) {
  return in_double(draw.result());
}
Values same_values(const Draw& draw, const Tensor& numbers) {
  return {for_result(draw, numbers)};
}

// normal() and log_normal(): mean + std * n.

Tensor normal_numbers(const Draw& draw) {
  return standardize(in_double(draw.result()), *draw.find("mean"), *draw.find("std"));
}
Values normal_values(const Draw& draw, const Tensor& numbers) {
  return {transform(for_result(draw, numbers), *draw.find("mean"), *draw.find("std"))};
}
Tensor log_normal_numbers(const Draw& draw) {
  return standardize(in_double(draw.result()).log(), *draw.find("mean"), *draw.find("std"));
}
Values log_normal_values(const Draw& draw, const Tensor& numbers) {
  return {normal_values(draw, numbers).front().exp()};
}

// uniform(): from + (to - from) * u.

Tensor uniform_numbers(const Draw& draw) {
  return standardize(in_double(draw.result()), draw.number("from"),
                     draw.number("to") - draw.number("from"));
}
Values uniform_values(const Draw& draw, const Tensor& numbers) {
  return {transform(for_result(draw, numbers), draw.number("from"),
                    draw.number("to") - draw.number("from"))};
}

// exponential(): e / lambda.

Tensor exponential_numbers(const Draw& draw) {
  return in_double(draw.result()) * draw.number("lambd");
}
Values exponential_values(const Draw& draw, const Tensor& numbers) {
  return {transform(for_result(draw, numbers), 0.0, 1 / draw.number("lambd"))};
}

// geometric(): the number of steps that a waiting time takes.

double step_of(const Draw& draw) {
  return -std::log1p(-draw.number("p"));
}
Tensor geometric_numbers(const Draw& draw) {
  return (in_double(draw.result()) - 0.5) * step_of(draw);
}
Values geometric_values(const Draw& draw, const Tensor& numbers) {
  return {(for_result(draw, numbers) / step_of(draw)).ceil()};
}

// cauchy(): median + sigma * n / m, for two normal numbers. Unlike the tangent of a uniform number,
// this is accurate for large values.

Tensor cauchy_numbers(const Draw& draw) {
  const Tensor ratio =
      standardize(in_double(draw.result()), draw.number("median"), draw.number("sigma"));
  const Tensor length = (ratio.square() + 1).sqrt();
  return at::stack({ratio / length, length.reciprocal()});
}
Values cauchy_values(const Draw& draw, const Tensor& numbers) {
  const Tensor pair = for_result(draw, numbers);
  return {transform(pair.select(0, 0) / pair.select(0, 1), draw.number("median"),
                    draw.number("sigma"))};
}

// bernoulli(): u < p.

const c10::IValue& probability_of(const Draw& draw) {
  const c10::IValue* const p = draw.find("p");
  return p != nullptr ? *p : draw.arguments.front();
}

/// Returns the middle of [0, p) where the mask is true, and of [p, 1) elsewhere.
Tensor middle_of(const Tensor& mask, const Tensor& p) {
  return at::where(mask, p / 2, (p + 1) / 2);
}

Tensor bernoulli_numbers(const Draw& draw) {
  const c10::IValue& p = probability_of(draw);
  const Tensor mask = draw.result().detach().ne(0);
  const Tensor chance = p.isTensor()
                            ? in_double(p.toTensor())
                            : at::full({}, p.toDouble(), mask.options().dtype(at::kDouble));
  return middle_of(mask, chance);
}
Values bernoulli_values(const Draw& draw, const Tensor& numbers) {
  const c10::IValue& p = probability_of(draw);
  return {p.isTensor() ? numbers.lt(p.toTensor()) : numbers.lt(p.toScalar())};
}

// native_dropout(): a mask and the scaled input. Dropout on CUDA calls it.

Tensor dropout_numbers(const Draw& draw) {
  const Tensor mask = draw.targets[1];
  return middle_of(mask, at::full({}, 1 - draw.number("p"), mask.options().dtype(at::kDouble)));
}
Values dropout_values(const Draw& draw, const Tensor& numbers) {
  const double kept = 1 - draw.number("p");
  const Tensor mask = numbers.lt(kept);
  const Tensor value = draw.self() * mask;
  return {kept > 0 ? value / kept : value, mask};
}

// rrelu_with_noise(): a uniform slope for each negative element, which it also writes.

Tensor slope_numbers(const Draw& draw) {
  if (draw.result().is_same(draw.self())) return {};  // the input is lost
  const double lower = draw.number("lower");
  const Tensor numbers =
      standardize(in_double(draw.targets[1]), lower, draw.number("upper") - lower);
  return at::where(draw.self().gt(0), at::full_like(numbers, 0.5), numbers);
}
Values slope_values(const Draw& draw, const Tensor& numbers) {
  const double lower = draw.number("lower");
  const Tensor slopes = transform(for_result(draw, numbers), lower, draw.number("upper") - lower);
  const Tensor noise = at::where(draw.self().gt(0), at::ones_like(slopes), slopes);
  return {draw.self() * noise, noise};
}

// randint() and random_(): low + floor(u * count).

double count_of(const Draw& draw, double low) {
  const c10::IValue* const high = draw.find("high");
  const c10::IValue* const end = high != nullptr ? high : draw.find("to");
  return end == nullptr ? 0 : end->toScalar().toDouble() - low;
}
double lowest_of(const Draw& draw) {
  return draw.number("low") + draw.number("from");
}

Tensor integer_numbers(const Draw& draw) {
  const double low = lowest_of(draw);
  const double count = count_of(draw, low);
  if (count < 1 || count > kMostValues) return {};
  return (in_double(draw.result()) - low + 0.5) / count;
}
Values integer_values(const Draw& draw, const Tensor& numbers) {
  const double low = lowest_of(draw);
  return {transform((numbers * count_of(draw, low)).floor(), low, 1.0)};
}

// randperm(): the order of uniform numbers.

Tensor order_numbers(const Draw& draw) {
  const Tensor order = draw.result().to(at::kLong);
  const auto count = static_cast<double>(order.numel());
  if (count > kMostValues) return {};
  const Tensor ranks = at::arange(order.numel(), order.options().dtype(at::kDouble));
  return at::empty_like(ranks).index_put_({order}, (ranks + 0.5) / count);
}
Values order_values(const Draw&, const Tensor& numbers) {
  return {numbers.argsort()};
}

// multinomial() with replacement, or of one sample: the inverse of the distribution function.

bool replaces(const Draw& draw) {
  return draw.find("replacement")->toBool() || draw.find("num_samples")->toInt() == 1;
}

Tensor sample_numbers(const Draw& draw) {
  const Tensor weights = in_double(draw.self());
  const Tensor levels = weights.cumsum(-1);
  const Tensor middles = (levels - weights / 2) / levels.slice(-1, -1);
  return middles.gather(-1, draw.result());
}
Values sample_values(const Draw& draw, const Tensor& numbers) {
  const Tensor weights =
      draw.self().scalar_type() == at::kDouble ? draw.self() : draw.self().to(at::kFloat);
  const Tensor levels = weights.cumsum(-1);
  const Tensor reached = numbers * levels.narrow(-1, weights.size(-1) - 1, 1);
  const Tensor index = reached.unsqueeze(-1).ge(levels.unsqueeze(-2)).sum(-1);
  return {index.clamp_max(weights.size(-1) - 1)};
}

// multinomial() without replacement: the first of a race of exponential waiting times.

Tensor race_numbers(const Draw& draw) {
  const Tensor weights = in_double(draw.self());
  const Tensor& winners = draw.result();
  const std::int64_t count = winners.size(-1);
  const Tensor places = at::arange(1, count + 1, weights.options());
  const Tensor times = at::full_like(weights, static_cast<double>(count) + 1)
                           .scatter(-1, winners, places.expand(winners.sizes()));
  const Tensor scale = weights.amax(-1, true);
  return at::where(weights.gt(0), times * weights / scale, at::ones_like(weights));
}
Values race_values(const Draw& draw, const Tensor& numbers) {
  const std::int64_t count = draw.find("num_samples")->toInt();
  return {std::get<1>((numbers / draw.self()).topk(count, -1, false))};
}

const DrawForm* find_form(std::string_view name) {
  constexpr auto kNormal = NoiseDistribution::kNormal;
  constexpr auto kUniform = NoiseDistribution::kUniform;
  constexpr auto kExponential = NoiseDistribution::kExponential;
  // An operator in place has the form of the other one.
  static const std::map<std::string_view, DrawForm> forms = {
      {"aten::randn", {kNormal, true, drawn_numbers, same_values}},
      {"aten::randn_like", {kNormal, true, drawn_numbers, same_values}},
      {"aten::rand", {kUniform, true, drawn_numbers, same_values}},
      {"aten::rand_like", {kUniform, true, drawn_numbers, same_values}},
      {"aten::normal", {kNormal, true, normal_numbers, normal_values}},
      {"aten::log_normal", {kNormal, true, log_normal_numbers, log_normal_values}},
      {"aten::uniform", {kUniform, true, uniform_numbers, uniform_values}},
      {"aten::exponential", {kExponential, true, exponential_numbers, exponential_values}},
      {"aten::geometric", {kExponential, false, geometric_numbers, geometric_values}},
      {"aten::cauchy", {kNormal, true, cauchy_numbers, cauchy_values}},
      {"aten::bernoulli", {kUniform, false, bernoulli_numbers, bernoulli_values}},
      {"aten::native_dropout", {kUniform, false, dropout_numbers, dropout_values}},
      {"aten::rrelu_with_noise", {kUniform, false, slope_numbers, slope_values}},
      {"aten::randint", {kUniform, false, integer_numbers, integer_values}},
      {"aten::randint_like", {kUniform, false, integer_numbers, integer_values}},
      {"aten::random", {kUniform, false, integer_numbers, integer_values}},
      {"aten::randperm", {kUniform, false, order_numbers, order_values}},
      {"aten::multinomial", {kUniform, false, sample_numbers, sample_values}},
  };
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto form = forms.find(name);
  return form == forms.end() ? nullptr : &form->second;
}

}  // namespace

Draw::Draw(const c10::FunctionSchema& called, torch::jit::Stack given,
           std::span<const c10::IValue> results)
    : schema(called), arguments(std::move(given)) {
  const auto add = [&](const Tensor& tensor) {
    const auto same = [&](const Tensor& known) { return known.is_same(tensor); };
    if (tensor.defined() && std::ranges::none_of(targets, same)) targets.push_back(tensor);
  };
  for (const c10::IValue& result : results) {
    if (result.isTensor()) add(result.toTensor());
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* const alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite() && arguments[i].isTensor()) {
      add(arguments[i].toTensor());
    }
  }
}

const c10::IValue* Draw::find(std::string_view name) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (schema.arguments()[i].name() != name) continue;
    return arguments[i].isNone() ? nullptr : &arguments[i];
  }
  return nullptr;
}

double Draw::number(std::string_view name) const {
  const c10::IValue* const value = find(name);
  return value == nullptr ? 0 : value->toScalar().toDouble();
}

bool has_draw_form(std::string_view name) {
  return find_form(name) != nullptr;
}

const DrawForm* find_draw_form(const Draw& draw) {
  static const DrawForm race = {NoiseDistribution::kExponential, false, race_numbers, race_values};
  const std::string& name = draw.schema.name();
  return name == "aten::multinomial" && !replaces(draw) ? &race : find_form(name);
}

}  // namespace leapp::session
