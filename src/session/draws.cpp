#include "session/draws.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>
#include <string>
#include <thread>

#include "bundle/noise_port.h"
#include "trace/constant.h"

namespace leapp::session {
namespace {

/// Returns the node of this thread whose recorded pass is open, if there is exactly one. If
/// `wanted` is not kNoId, others may be open.
SessionNode* find_drawing_node(SessionData& data, NodeId wanted) {
  SessionNode* found = nullptr;
  for (SessionNode& node : data.nodes) {
    if (!node.pass.open || !node.pass.recorded) continue;
    if (wanted != kNoId && node.id != wanted) continue;
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

/// Warns if the second pass draws the numbers of the first one.
void check_varies(SessionData& data, const SessionNode& node, std::size_t input,
                  const at::Tensor& drawn, trace::FrameRef frame) {
  if (node.completed != 1 || drawn.numel() == 0) return;
  if (!trace::same_value(node.passes.front().inputs[input], drawn)) return;
  data.messages.warn(
      Code::kRandomInside, node.name,
      "node '" + node.name +
          "' draws the same numbers in every pass, for example because the program seeds its "
          "generator each time. The runtime draws different numbers in every tick. If they are "
          "meant to be constant, draw them before the node, or use leapp.start(noise=\"frozen\").",
      frame);
}

/// Makes the numbers an input of the node. Returns false if they are not those of the same draw in
/// the first pass.
bool add_noise(SessionData& data, SessionNode& node, const DrawForm& form, const at::Tensor& drawn,
               trace::FrameRef frame) {
  NodePort port;
  port.dtype = DType::kFloat32;
  port.shape = drawn.sizes().vec();
  make_noise(port, form.distribution);
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
    if (form.is_continuous) check_varies(data, node, i, drawn, frame);
    set_noise(data, node, i, drawn);
    return true;
  }
  return false;
}

/// Returns the median of a distribution.
double median_of(NoiseDistribution distribution) {
  switch (distribution) {
    case NoiseDistribution::kUniform:
      return 0.5;
    case NoiseDistribution::kNormal:
      return 0;
    default:
      return std::numbers::ln2;
  }
}

/// Returns the standard numbers of a draw in single precision; undefined if it has none.
at::Tensor find_numbers(const DrawForm& form, const Draw& draw) {
  const trace::Unobserved guard;
  const at::Tensor exact = form.numbers(draw);
  if (!exact.defined()) return {};
  const at::Tensor numbers = exact.to(at::kFloat);
  // Rounding may give 1, which is outside of the distribution.
  return form.distribution == NoiseDistribution::kUniform ? numbers.clamp_max(1 - 0x1p-24)
                                                          : numbers;
}

/// Returns whether the recorded arithmetic gives what was drawn: integers and bools exactly, others
/// within the tolerances of the validation.
bool gives(const at::Tensor& value, const at::Tensor& drawn) {
  const trace::Unobserved guard;
  return at::allclose(value.to(at::kDouble), drawn.detach().to(at::kDouble), 1e-3, 1e-5, true);
}

void replace(const at::Tensor& target, const at::Tensor& value) {
  const trace::Unobserved guard;
  target.copy_(value);
}

bool is_wrapped(const Draw& draw) {
  const auto wrapped = [](const c10::IValue& value) {
    return value.isTensor() && trace::is_wrapped(value.toTensor());
  };
  return std::ranges::any_of(draw.arguments, wrapped) ||
         std::ranges::any_of(draw.targets, trace::is_wrapped);
}

}  // namespace

bool draws_in_parts(Session& session, const c10::OperatorHandle& op) {
  if (!op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
      has_draw_form(op.schema().name())) {
    return false;
  }
  const trace::FrameRef frame = trace::capture_source();
  return locked(session, frame, [&](SessionData& data) {
    SessionNode* const node = find_drawing_node(data, kNoId);
    if (node == nullptr || data.options.noise == Noise::kModel) return false;
    const std::string& name = op.schema().name();
    const bool trains =
        name.find("dropout") != std::string::npos || name.starts_with("aten::rrelu");
    if (trains && !node->complete()) {
      data.messages.warn(Code::kRandomInside, node->name,
                         name + " is active in node '" + node->name +
                             "', so the exported model changes values at random, too. If this is "
                             "not intended, call eval() before tracing.",
                         frame);
    }
    return true;
  });
}

std::vector<at::Tensor> record_as_noise(Session& session, const Draw& draw, NodeId node) {
  const trace::FrameRef frame = trace::capture_source();
  const Noise noise = locked(session, frame, [&](SessionData& data) {
    return find_drawing_node(data, node) == nullptr ? Noise::kModel : data.options.noise;
  });
  const DrawForm* const form = noise == Noise::kModel ? nullptr : find_draw_form(draw);
  if (form == nullptr || is_wrapped(draw)) return {};
  const at::NoGradGuard no_grad;
  at::Tensor numbers = find_numbers(*form, draw);
  if (!numbers.defined()) return {};
  if (noise == Noise::kZero) numbers.fill_(median_of(form->distribution));
  locked(session, frame, [&](SessionData& data) {
    SessionNode* const drawing = find_drawing_node(data, node);
    if (noise == Noise::kPort && add_noise(data, *drawing, *form, numbers, frame)) return;
    const VarId constant = data.tape->add_outside(numbers, true);
    if (noise == Noise::kPort) {
      data.tape.baked.insert({constant, {constant, frame, draw.schema.name(), {}}});
    }
  });
  std::vector<at::Tensor> values = form->values(draw, numbers);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const at::Tensor& target = draw.targets[i];
    values[i] = values[i].to(target.scalar_type());
    if (noise == Noise::kZero) replace(target, values[i]);
    if (!gives(values[i], target)) return {};
  }
  return values;
}

void supply_missing_noise(SessionData& data, SessionNode& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const NodePort& port = node.inputs[i];
    if (port.is_drawn && !node.pass.has(port.name)) set_noise(data, node, i, at::zeros(port.shape));
  }
}

}  // namespace leapp::session
