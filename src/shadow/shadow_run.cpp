#include "shadow/shadow_run.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/find.h"
#include "base/log.h"
#include "bundle/initial_values.h"
#include "session/record/played_pass.h"

namespace leapp::shadow {

using Given = ShadowNode::Given;

ShadowRun::ShadowRun(const std::filesystem::path& yaml, const ShadowOptions& options)
    : bundle_(read_bundle(yaml, options.bundle)),
      executor_(bundle_),
      tolerance_(options.tolerance) {
  RuntimeOptions runtime;
  runtime.bundle = options.bundle;
  load(runtime);
  find_players();
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
    if (value == nullptr) continue;
    if (wire.last_tick) {
      executor_.set_initial(wire.target, *value);
    } else if (executor_.wiring().has_schedule()) {
      executor_.set_held(wire.source, *value);
    }
  }
}

void ShadowRun::find_players() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const Timing::Age& age : executor_.wiring().timing(i).ages) {
      ShadowNode& source = nodes_[age.node];
      const std::string name = source.model().name + session::kPlaybackSuffix;
      if (bundle_.models[i].name.starts_with(name)) source.player = i;
    }
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
    if (starts_tick(*found)) remarks = run_passes();
    if (found->waits) return found->open_again();
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
  if (found == nullptr || !found->is_open || found->waits) return;
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
    ShadowNode& shown = found->player ? nodes_[*found->player] : *found;
    if (found->player) shown.open();
    for (const NamedTensors* group : {&tensors, &static_outputs}) {
      for (const TensorSemantics& tensor : *group) {
        if (const auto output = shown.find_output(tensor.name))
          shown.expect_output(*output, tensor.ref);
      }
    }
    found->is_open = shown.is_open = false;
    ++found->turns;
    if (std::exchange(found->waits, true)) return;
    passes_.push_back({static_cast<std::size_t>(found - nodes_.data()), where});
    if (found->player) passes_.push_back({*found->player, where});
    const bool is_complete = passes_.size() == nodes_.size();
    if (is_complete && !executor_.wiring().has_schedule()) remarks = run_passes();
  }
  hand_out(remarks);
}

// Returns whether a pass of the node, which begins now, belongs to the next tick.
bool ShadowRun::starts_tick(const ShadowNode& node) const {
  const Wiring& wiring = executor_.wiring();
  if (!wiring.has_schedule()) return node.waits;
  const auto index = static_cast<std::size_t>(&node - nodes_.data());
  if (node.waits) return node.turns >= wiring.timing(index).repeat;
  const auto later = std::ranges::find(wiring.order(), index);
  return std::any_of(later, wiring.order().end(), [&](std::size_t i) { return nodes_[i].waits; });
}

// In the order in which the program completed them. The lock is held.
std::vector<ShadowRun::Remark> ShadowRun::run_passes() {
  if (executor_.wiring().has_schedule()) {
    if (!passes_.empty()) run_tick();
  } else {
    for (const Pass& pass : passes_) {
      where_ = pass.where;
      step(nodes_[pass.node]);
    }
  }
  for (const Pass& pass : passes_) {
    nodes_[pass.node].waits = false;
    nodes_[pass.node].turns = 0;
  }
  passes_.clear();
  return std::exchange(remarks_, {});
}

// One tick of the schedule, which the program has completed.
void ShadowRun::run_tick() {
  executor_.begin_tick();
  for (const std::size_t index : executor_.wiring().order()) {
    ShadowNode& node = nodes_[index];
    const Pass* const pass = find_in(passes_, index, &Pass::node);
    const bool is_due = executor_.is_due(index);
    where_ = pass != nullptr ? pass->where : passes_.back().where;
    if (node.player && !is_due) continue;
    if (pass != nullptr) step(node);
    // What an input holds in a tick in which the program does not run the node is not known.
    const bool is_known = executor_.wiring().timing(index).on_change.empty();
    if ((pass != nullptr) != is_due && is_known) differ_in_time(node, pass != nullptr);
  }
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
  executor_.restart();
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
