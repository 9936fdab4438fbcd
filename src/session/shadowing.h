// Notifies a shadow run of annotations while no session is tracing.
#pragma once

#include <atomic>
#include <string>

#include "leapp/leapp.h"

namespace leapp::session {

/// Receives the tensors of annotations, on any thread, at the user's line.
class Shadowing {
 public:
  virtual ~Shadowing() = default;
  virtual void inputs(const std::string& node, const NamedTensors& tensors) = 0;
  /// Values of declared states and buffers at the start of a pass.
  virtual void states(const std::string& node, const NamedTensors& tensors) = 0;
  virtual void updates(const std::string& node, const NamedTensors& tensors) = 0;
  virtual void outputs(const std::string& node, const NamedTensors& tensors,
                       const NamedTensors& static_outputs) = 0;
  virtual void abandon(const std::string& node) noexcept = 0;
};

/// The active shadow run, or nullptr. Must outlive its registration.
inline std::atomic<Shadowing*> shadowing = nullptr;

}  // namespace leapp::session
