// Values of ports inside merged nodes, which a tick does not keep.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "leapp/bundle.h"
#include "leapp/inference_manager.h"
#include "leapp/tensor.h"
#include "runtime/inspector.h"
#include "runtime/loader.h"
#include "runtime/port_names.h"
#include "runtime/session.h"

namespace leapp {

/// Computes them on request, from the inputs of the last tick. Keeps references to its arguments,
/// which must outlive it.
class InnerValues {
 public:
  InnerValues(const LoadedBundle& loaded, const RuntimeOptions& options, Session& session,
              const PortNames& names)
      : loaded_(loaded), options_(options), session_(session), names_(names) {}

  /// Stores the inputs of the last tick. Call it before a slow call changes them.
  void keep_inputs();

  /// Returns the value of the port "node/port" of a merged node in the last tick. Throws LP610 if
  /// the inputs of that tick are lost, or if the node did not run in it.
  Tensor read(const Model& model, const std::string& name);

 private:
  Tensor read_input(const std::string& name) const;

  const LoadedBundle& loaded_;
  const RuntimeOptions& options_;
  Session& session_;
  const PortNames& names_;
  std::map<std::string, std::unique_ptr<Inspector>> inspectors_;  // created on request
  // the inputs of the tick kept_tick_
  TensorMap kept_inputs_;
  std::uint64_t kept_tick_ = 0;
};

}  // namespace leapp
