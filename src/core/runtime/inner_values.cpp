#include "runtime/inner_values.h"

#include "base/check.h"

namespace leapp {

void InnerValues::keep_inputs() {
  if (session_.ticks() == 0 || session_.inputs_changed()) return;
  kept_inputs_.clear();
  for (std::size_t i = 0; i < loaded_.plan.external_inputs.size(); ++i) {
    kept_inputs_.insert_or_assign(loaded_.plan.external_inputs[i],
                                  session_.read(session_.input(i)));
  }
  kept_tick_ = session_.ticks();
}

Tensor InnerValues::read_input(const std::string& name) const {
  const bool external = names_.find_input(name).has_value();
  if (external && session_.inputs_changed()) {
    require(kept_tick_ == session_.ticks(), Code::kInnerValue,
            "values inside merged nodes are computed on request, but the inputs have changed "
            "since the last tick. Read the value before setting inputs, or load the bundle with "
            "merge off.");
    return kept_inputs_.at(name);
  }
  return session_.read(session_.before(loaded_.plan.inputs.at(name)));
}

Tensor InnerValues::read(const Model& model, const std::string& name) {
  for (std::size_t i = 0; i < loaded_.plan.steps.size(); ++i) {
    const PlannedStep& step = loaded_.plan.steps[i];
    for (std::size_t index : step.models) {
      if (&loaded_.bundle.models[index] != &model) continue;
      require(
          session_.ran_in_last_tick(i), Code::kInnerValue,
          "values inside merged nodes are not kept, and node '" + model.name +
              "' did not run in the last tick. Read it after a tick in which it runs, or load the "
              "bundle with merge off.");
      std::unique_ptr<Inspector>& inspector = inspectors_[step.model.name];
      if (!inspector) inspector = std::make_unique<Inspector>(loaded_.bundle, step, options_);
      return inspector->value(name, [&](const std::string& input) { return read_input(input); });
    }
  }
  throw Error(Code::kInternal, "no step runs node '" + model.name + "'");
}

}  // namespace leapp
