#include "runtime/inspector.h"

#include "runtime/loader.h"
#include "runtime/merge.h"

namespace leapp {

Inspector::Inspector(const Bundle& bundle, const PlannedStep& step, const RuntimeOptions& options)
    : part_(isolate(bundle, step)) {
  options_.engine = options.engine;
  options_.nodes = options.nodes;
  options_.bundle = options.bundle;
  options_.engines = options.engines;
  const VerifiedFiles files(part_, part_.file.parent_path(), options_.bundle);
  std::vector<std::vector<std::size_t>> one_by_one;
  for (std::size_t i = 0; i < part_.models.size(); ++i) {
    one_by_one.push_back({i});
    engines_.push_back(load_node(part_, part_.models[i], files, options_));
  }
  plan_ = make_plan(part_, one_by_one);
  session_ = std::make_unique<Session>(plan_, engines_, options_, std::string());
}

Tensor Inspector::value(const std::string& port,
                        const std::function<Tensor(const std::string&)>& read) {
  for (std::size_t i = 0; i < plan_.external_inputs.size(); ++i) {
    session_->set_input(i, read(plan_.external_inputs[i])).value();
  }
  session_->tick().value();
  const auto output = plan_.outputs.find(port);
  return session_->read(
      session_->now(output != plan_.outputs.end() ? output->second : plan_.inputs.at(port)));
}

}  // namespace leapp
