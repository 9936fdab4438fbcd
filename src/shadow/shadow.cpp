#include "leapp/trace/shadow.h"

#include "base/check.h"
#include "session/shadowing.h"
#include "shadow/shadow_run.h"

namespace leapp {

Shadow::Shadow(const std::filesystem::path& yaml, const ShadowOptions& options)
    : run_(std::make_unique<shadow::ShadowRun>(yaml, options)) {
  require(!is_active(), Code::kNotShadowed,
          "a shadow run cannot begin while a session is tracing: call leapp.stop() first.");
  require(session::shadowing == nullptr, Code::kNotShadowed,
          "another shadow run is active, but only one is possible at a time. End it first.");
  session::shadowing = run_.get();
}

Shadow::~Shadow() {
  stop();
}

void Shadow::reset() {
  run_->reset();
}

void Shadow::stop() {
  if (session::shadowing == run_.get()) session::shadowing = nullptr;
  run_->finish();
}

ShadowReport Shadow::report() const {
  return run_->report();
}

}  // namespace leapp
