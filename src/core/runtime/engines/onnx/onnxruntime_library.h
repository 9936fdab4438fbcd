// ONNX Runtime as a library that is opened at run time: LEAPP does not link it.
#pragma once

#include <onnxruntime_c_api.h>

#include <filesystem>
#include <string>
#include <vector>

#include "leapp/error.h"

namespace leapp {

/// The opened library and its environment. One per process, created at first use, never closed,
/// because ONNX Runtime's threads and statics do not survive unloading. Thread-safe.
class OnnxRuntime {
 public:
  /// Opens the library on the first call. Throws Error(kNotFound) with the searched paths; a later
  /// call tries again.
  static const OnnxRuntime& get();

  const OrtApi& api() const noexcept { return *api_; }
  const OrtEnv* env() const noexcept { return env_; }
  /// Returns "1.31.0".
  const std::string& version() const noexcept { return version_; }
  /// Returns the execution providers by their own names ("CPUExecutionProvider"), most preferred
  /// first.
  const std::vector<std::string>& providers() const noexcept { return providers_; }

  /// Throws a status that is not OK as an Error "<what>: <message of ONNX Runtime>".
  void check(OrtStatus* status, const std::string& what, Code code = Code::kBadModel) const;

 private:
  OnnxRuntime();

  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
  std::string version_;
  std::vector<std::string> providers_;
};

}  // namespace leapp
