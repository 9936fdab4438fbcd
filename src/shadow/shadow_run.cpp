#include "shadow/shadow_run.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/find.h"
#include "base/log.h"
#include "bundle/initial_values.h"

namespace leapp::shadow {

using Given = ShadowNode::Given;

ShadowRun::ShadowRun(const std::filesystem::path& yaml, const ShadowOptions& options)
    : bundle_(read_bundle(yaml, options.bundle)),
      executor_(bundle_),
      tolerance_(options.tolerance) {
  RuntimeOptions runtime;
  runtime.bundle = options.bundle;
  load(runtime);
}

void ShadowRun::load(const RuntimeOptions& options) {
  const VerifiedFiles files(bundle_, bundle_.file.parent_path(), options.bundle);
  for (std::size_t i = 0; i < bundle_.models.size(); ++i) {
    const Model& model = bundle_.models[i];
    nodes_.emplace_back(model, executor_, i);
    if (model.file && model.backend && options.engines.contains(*model.backend)) {
      executor_.load(i, load_node(bundle_, model, files, options));
      continue;
    }
    nodes_.back().report.not_compared =
        model.file ? "this machine has no engine for its backend, " + model.backend.value_or("none")
                   : "it has no model";
  }
  const std::optional<FileEntry>& file = bundle_.pipeline.initial_values;
  const SafeTensors stored =
      read_initial_values(bundle_, file ? &files.at(file->path) : nullptr, options.bundle);
  for (const Wiring::Connection& wire : executor_.wiring().connections()) {
    const ConstTensorView* value = stored.find(to_string(input_ref(bundle_, wire.target)));
    if (wire.last_tick && value != nullptr) executor_.set_initial(wire.target, *value);
  }
}

ShadowNode* ShadowRun::find(const std::string& node) {
  return find_where(nodes_, [&](const ShadowNode& each) { return each.model().name == node; });
}

void ShadowRun::inputs(const std::string& node, const NamedTensors& tensors) {
  const at::NoGradGuard no_grad;
  std::vector<Remark> remarks;
  {
    const std::lock_guard lock(mutex_);
    ShadowNode* const found = find(node);
    if (found == nullptr) {
      if (std::find(unknown_.begin(), unknown_.end(), node) == unknown_.end()) {
        unknown_.push_back(node);
      }
      return;
    }
    if (found->waits) remarks = run_passes();
    const auto again = [&](const TensorSemantics& tensor) {
      const auto input = found->find_input(tensor.name);
      return input && found->given[*input] == Given::kInput;
    };
    const bool anew = std::any_of(tensors.begin(), tensors.end(), again);
    if (!found->is_open || anew) found->open();  // a pass that was interrupted begins again
    for (const TensorSemantics& tensor : tensors) {
      if (const auto input = found->find_input(tensor.name)) {
        found->give(*input, tensor.ref, Given::kInput);
      }
    }
  }
  hand_out(remarks);
}

void ShadowRun::states(const std::string& node, const NamedTensors& tensors) {
  const at::NoGradGuard no_grad;
  const std::lock_guard lock(mutex_);
  ShadowNode* const found = find(node);
  if (found == nullptr || !found->is_open) return;
  for (const TensorSemantics& tensor : tensors) {
    if (const auto input = found->find_input(tensor.name)) {  // otherwise it is a constant
      found->give(*input, tensor.ref, Given::kState);
    }
  }
}

void ShadowRun::updates(const std::string& node, const NamedTensors& tensors) {
  const at::NoGradGuard no_grad;
  const std::lock_guard lock(mutex_);
  ShadowNode* const found = find(node);
  if (found == nullptr || !found->is_open) return;
  for (const TensorSemantics& tensor : tensors) {
    if (const auto output = found->find_output(tensor.name)) {
      found->expect_output(*output, tensor.ref);
    }
  }
}

void ShadowRun::outputs(const std::string& node, const NamedTensors& tensors,
                        const NamedTensors& static_outputs) {
  const at::NoGradGuard no_grad;
  const trace::FrameRef where = trace::capture_source();
  std::vector<Remark> remarks;
  {
    const std::lock_guard lock(mutex_);
    ShadowNode* const found = find(node);
    if (found == nullptr || !found->is_open) return;
    for (const NamedTensors* group : {&tensors, &static_outputs}) {
      for (const TensorSemantics& tensor : *group) {
        if (const auto output = found->find_output(tensor.name))
          found->expect_output(*output, tensor.ref);
      }
    }
    found->is_open = false;
    found->waits = true;
    passes_.push_back({static_cast<std::size_t>(found - nodes_.data()), where});
    if (passes_.size() == nodes_.size()) remarks = run_passes();
  }
  hand_out(remarks);
}

// In the order in which the program completed them. The lock is held.
std::vector<ShadowRun::Remark> ShadowRun::run_passes() {
  for (const Pass& pass : passes_) {
    where_ = pass.where;
    nodes_[pass.node].waits = false;
    step(nodes_[pass.node]);
  }
  passes_.clear();
  return std::exchange(remarks_, {});
}

void ShadowRun::finish() {
  const at::NoGradGuard no_grad;
  std::vector<Remark> remarks;
  {
    const std::lock_guard lock(mutex_);
    remarks = run_passes();
  }
  hand_out(remarks);
}

void ShadowRun::abandon(const std::string& node) noexcept {
  const std::lock_guard lock(mutex_);
  ShadowNode* const found = find(node);
  if (found == nullptr || !found->is_open) return;
  found->is_open = false;
  ++found->report.abandoned;
}

// Without the lock, because the program's line is read from Python's frames.
void ShadowRun::hand_out(const std::vector<Remark>& remarks) {
  for (const Remark& remark : remarks) {
    const ir::SourceLocation source = trace::resolve_source(remark.where);
    const std::string where = source.known() ? source.to_string() : "";
    if (remark.code == Code::kShadowDiffers) {
      const std::lock_guard lock(mutex_);
      nodes_[remark.node].report.first->where = where;
    }
    warn(remark.code, (where.empty() ? "" : where + ": ") + remark.text);
  }
}

void ShadowRun::reset() {
  finish();
  const std::lock_guard lock(mutex_);
  reports_resets_ = true;
  for (ShadowNode& node : nodes_) {
    if (node.report.ticks > 0) ++node.report.resets;
    node.forget_runs();
    node.lost = false;
    node.agreed = true;
  }
}

ShadowReport ShadowRun::report() {
  finish();
  const std::lock_guard lock(mutex_);
  ShadowReport report;
  for (const ShadowNode& node : nodes_) report.nodes.push_back(node.report);
  report.unknown = unknown_;
  return report;
}

}  // namespace leapp::shadow
