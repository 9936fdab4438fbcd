#include "session/draws.h"

#include <ATen/ExpandUtils.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bundle/noise_port.h"
#include "trace/constant.h"

namespace leapp::session {
namespace {

/// Returns the node of this thread whose recorded pass is open, if there is exactly one.
SessionNode* find_drawing_node(SessionData& data) {
  SessionNode* found = nullptr;
  for (SessionNode& node : data.nodes) {
    if (!node.pass.open || !node.pass.recorded) continue;
    if (found != nullptr || node.pass.thread != std::this_thread::get_id()) return nullptr;
    found = &node;
  }
  return found;
}

/// Returns the name of the next noise input: "noise", "noise_2", ..
std::string name_noise(const SessionNode& node) {
  std::string name = "noise";
  for (int number = 2; node.pass.has(name); ++number) name = "noise_" + std::to_string(number);
  return name;
}

void set_noise(SessionData& data, SessionNode& node, std::size_t input, const at::Tensor& drawn) {
  Pass& record = node.pass.record;
  node.pass.run.inputs.resize(node.inputs.size());
  record.inputs.resize(node.inputs.size());
  record.recording.inputs.resize(node.inputs.size());
  if (node.pass.recorded) record.inputs[input] = trace::copy_of(drawn);
  record.recording.inputs[input] = {
      node.inputs[input].name, node.pass.recorded ? data.tape->add_input(drawn, node.id) : kNoId};
}

/// Makes the numbers an input of the node. Returns false if they are not those of the same draw in
/// the first pass.
bool add_noise(SessionData& data, SessionNode& node, NoiseDistribution distribution,
               const at::Tensor& drawn) {
  NodePort port;
  port.dtype = DType::kFloat32;
  port.shape = drawn.sizes().vec();
  make_noise(port, distribution);
  port.is_drawn = true;
  if (!node.complete()) {
    port.name = name_noise(node);
    node.inputs.push_back(std::move(port));
    set_noise(data, node, node.inputs.size() - 1, drawn);
    return true;
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const NodePort& known = node.inputs[i];
    if (!known.is_drawn || node.pass.has(known.name)) continue;
    if (known.shape != port.shape || known.semantics != port.semantics) return false;
    set_noise(data, node, i, drawn);
    return true;
  }
  return false;
}

/// One call of a random operator.
class Draw {
 public:
  Draw(Session& session, const c10::FunctionSchema& schema, torch::jit::Stack& stack, Noise noise)
      : session_(session), schema_(schema), stack_(stack), noise_(noise) {}

  /// Returns the argument of that name, or null if it is absent or None.
  const c10::IValue* find(std::string_view name) const {
    const std::vector<c10::Argument>& declared = schema_.arguments();
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (declared[i].name() != name) continue;
      const c10::IValue& value = stack_[stack_.size() - declared.size() + i];
      return value.isNone() ? nullptr : &value;
    }
    return nullptr;
  }
  double number(std::string_view name) const { return find(name)->toScalar().toDouble(); }
  const at::Tensor& tensor(std::string_view name) const { return find(name)->toTensor(); }
  const at::Tensor& self() const {
    return stack_[stack_.size() - schema_.arguments().size()].toTensor();
  }

  at::ScalarType type() const {
    if (const c10::IValue* const given = find("dtype")) return given->toScalarType();
    const c10::IValue& first = stack_[stack_.size() - schema_.arguments().size()];
    return first.isTensor() ? first.toTensor().scalar_type()
                            : at::get_default_dtype_as_scalartype();
  }

  std::vector<std::int64_t> size() const { return find("size")->toIntVector(); }

  /// Returns standard numbers of the call's generator.
  at::Tensor normal(at::IntArrayRef sizes) const {
    return noise(NoiseDistribution::kNormal, sizes);
  }
  at::Tensor uniform(at::IntArrayRef sizes) const {
    return noise(NoiseDistribution::kUniform, sizes);
  }

 private:
  at::Tensor noise(NoiseDistribution distribution, at::IntArrayRef sizes) const {
    const trace::FrameRef frame = trace::capture_source();
    const trace::Unobserved guard;
    const at::Tensor drawn = draw(distribution, sizes);
    if (trace::is_wrapped(drawn)) return drawn;
    locked(session_, frame, [&](SessionData& data) {
      SessionNode* const node = find_drawing_node(data);
      if (node == nullptr) return;
      const bool is_port = noise_ == Noise::kPort && add_noise(data, *node, distribution, drawn);
      if (is_port) return;
      const VarId constant = data.tape->add_outside(drawn, true);
      if (noise_ == Noise::kPort) {
        data.tape.baked.insert({constant, {constant, frame, schema_.name(), {}}});
      }
    });
    return drawn;
  }

  at::Tensor draw(NoiseDistribution distribution, at::IntArrayRef sizes) const {
    const bool is_normal = distribution == NoiseDistribution::kNormal;
    const at::TensorOptions options = at::TensorOptions(at::kFloat).device(device());
    if (noise_ == Noise::kZero) return at::full(sizes, is_normal ? 0.0 : 0.5, options);
    std::optional<at::Generator> generator;
    if (const c10::IValue* const given = find("generator")) generator = given->toGenerator();
    return is_normal ? at::randn(sizes, generator, options) : at::rand(sizes, generator, options);
  }

  at::Device device() const {
    if (const c10::IValue* const given = find("device")) return given->toDevice();
    for (const c10::IValue& value : std::span(stack_).last(schema_.arguments().size())) {
      if (value.isTensor()) return value.toTensor().device();
    }
    return at::kCPU;
  }

  Session& session_;
  const c10::FunctionSchema& schema_;
  torch::jit::Stack& stack_;
  Noise noise_;
};

using Results = torch::jit::Stack;
using Form = std::function<Results(const Draw&)>;

/// Returns numbers with the density exp(-x), which are positive.
at::Tensor to_exponential(const at::Tensor& uniform) {
  return uniform.clamp_min(0x1p-25).log().neg();
}

at::Tensor keep(const Draw& draw, at::IntArrayRef sizes, double p) {
  return draw.uniform(sizes).ge(p).to(draw.self().scalar_type());
}

at::Tensor drop(const Draw& draw, at::IntArrayRef sizes) {
  const double p = draw.number("p");
  return p >= 1 ? draw.self() * 0 : draw.self() * keep(draw, sizes, p) / (1 - p);
}

std::vector<std::int64_t> channels(const at::Tensor& tensor) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(tensor.dim()), 1);
  for (std::size_t i = 0; i < sizes.size() && i < 2; ++i) sizes[i] = tensor.sizes()[i];
  return sizes;
}

at::Tensor multinomial(const Draw& draw) {
  const at::Tensor& weights = draw.self();
  const std::int64_t count = draw.find("num_samples")->toInt();
  if (!draw.find("replacement")->toBool() && count > 1) {
    const at::Tensor waits = to_exponential(draw.uniform(weights.sizes())) / weights;
    return std::get<1>(waits.topk(count, -1, false));
  }
  std::vector<std::int64_t> sizes = weights.sizes().vec();
  sizes.back() = count;
  const at::Tensor levels = weights.cumsum(-1);
  const at::Tensor reached = draw.uniform(sizes) * levels.narrow(-1, weights.size(-1) - 1, 1);
  return reached.unsqueeze(-1).ge(levels.unsqueeze(-2)).sum(-1).clamp_max(weights.size(-1) - 1);
}

at::Tensor like(const Draw& draw, bool is_normal) {
  const at::IntArrayRef sizes = draw.self().sizes();
  return (is_normal ? draw.normal(sizes) : draw.uniform(sizes)).to(draw.type());
}

at::Tensor write(const Draw& draw, const at::Tensor& value) {
  const at::Tensor target = draw.self();
  target.copy_(value);
  return target;
}

/// Returns the form of every operator that has one, by its name and overload.
const std::map<std::string, Form, std::less<>>& forms() {
  const auto one = [](at::Tensor (*form)(const Draw&)) {
    return [form](const Draw& draw) { return Results{form(draw)}; };
  };
  static const auto randn = [](const Draw& d) { return d.normal(d.size()).to(d.type()); };
  static const auto rand = [](const Draw& d) { return d.uniform(d.size()).to(d.type()); };
  static const std::map<std::string, Form, std::less<>> table = {
      {"aten::randn.", one(randn)},
      {"aten::randn.generator", one(randn)},
      {"aten::rand.", one(rand)},
      {"aten::rand.generator", one(rand)},
      {"aten::randn_like.", one([](const Draw& d) { return like(d, true); })},
      {"aten::rand_like.", one([](const Draw& d) { return like(d, false); })},
      {"aten::normal.float_float", one([](const Draw& d) {
         return d.normal(d.size()).to(d.type()) * d.number("std") + d.number("mean");
       })},
      {"aten::normal.Tensor_float",
       one([](const Draw& d) { return like(d, true) * d.number("std") + d.self(); })},
      {"aten::normal.float_Tensor", one([](const Draw& d) {
         const at::Tensor& std = d.tensor("std");
         return d.normal(std.sizes()).to(std.scalar_type()) * std + d.number("mean");
       })},
      {"aten::normal.Tensor_Tensor", one([](const Draw& d) {
         const at::Tensor& std = d.tensor("std");
         const auto sizes = at::infer_size(d.self().sizes(), std.sizes());
         return d.normal(sizes).to(d.type()) * std + d.self();
       })},
      {"aten::normal_.", one([](const Draw& d) {
         return write(d, d.normal(d.self().sizes()) * d.number("std") + d.number("mean"));
       })},
      {"aten::uniform_.", one([](const Draw& d) {
         const double from = d.number("from");
         return write(d, d.uniform(d.self().sizes()) * (d.number("to") - from) + from);
       })},
      {"aten::exponential_.", one([](const Draw& d) {
         return write(d, to_exponential(d.uniform(d.self().sizes())) / d.number("lambd"));
       })},
      {"aten::bernoulli.",
       one([](const Draw& d) { return d.uniform(d.self().sizes()).lt(d.self()).to(d.type()); })},
      {"aten::bernoulli.p", one([](const Draw& d) {
         return d.uniform(d.self().sizes()).lt(d.number("p")).to(d.type());
       })},
      {"aten::bernoulli_.float",
       one([](const Draw& d) { return write(d, d.uniform(d.self().sizes()).lt(d.number("p"))); })},
      {"aten::multinomial.", one(multinomial)},
      {"aten::dropout.", one([](const Draw& d) { return drop(d, d.self().sizes()); })},
      {"aten::feature_dropout.", one([](const Draw& d) { return drop(d, channels(d.self())); })},
  };
  return table;
}

/// Returns whether an argument belongs to torch.vmap() or another transform.
bool has_wrapped_argument(std::span<const c10::IValue> arguments) {
  return std::ranges::any_of(arguments, [](const c10::IValue& value) {
    return value.isTensor() && trace::is_wrapped(value.toTensor());
  });
}

bool has_plain_type(const Draw& draw) {
  const at::ScalarType type = draw.type();
  return type == at::kFloat || type == at::kDouble || type == at::kHalf || type == at::kBFloat16;
}

void warn_of_dropout(SessionData& data, const SessionNode& node, const std::string& op,
                     trace::FrameRef frame) {
  if (node.complete() || op.find("dropout") == std::string::npos) return;
  data.messages.warn(Code::kRandomInside, node.name,
                     op + " is active in node '" + node.name +
                         "', so the exported model drops values at random, too. If this is not "
                         "intended, call eval() before tracing.",
                     frame);
}

}  // namespace

bool draw_as_noise(Session& session, const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::string& name = op.schema().name();
  const auto form = forms().find(name + "." + op.schema().overload_name());
  const std::size_t arguments = op.schema().arguments().size();
  if (form == forms().end() || has_wrapped_argument(std::span(*stack).last(arguments)))
    return false;
  const trace::FrameRef frame = trace::capture_source();
  const Noise noise = locked(session, frame, [&](SessionData& data) {
    const SessionNode* const node = find_drawing_node(data);
    if (node == nullptr || data.options.noise == Noise::kModel) return Noise::kModel;
    warn_of_dropout(data, *node, name, frame);
    return data.options.noise;
  });
  const Draw draw(session, op.schema(), *stack, noise);
  if (noise == Noise::kModel || !has_plain_type(draw)) return false;
  Results results = form->second(draw);
  torch::jit::drop(*stack, arguments);
  for (c10::IValue& result : results) stack->push_back(std::move(result));
  return true;
}

void supply_missing_noise(SessionData& data, SessionNode& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const NodePort& port = node.inputs[i];
    if (port.is_drawn && !node.pass.has(port.name)) set_noise(data, node, i, at::zeros(port.shape));
  }
}

}  // namespace leapp::session
