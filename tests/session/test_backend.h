// An external backend for tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "session/external_backend.h"

namespace leapp::testing {

/// Writes and runs models by functions of the test.
class TestBackend : public session::ExternalBackend {
 public:
  std::string missing_package(const std::string&) override { return missing; }
  void write(const session::ExternalExport& node) override { writes(node); }
  std::vector<at::Tensor> run(const std::filesystem::path& file,
                              const std::vector<at::Tensor>& inputs) override {
    return runs(file, inputs);
  }

  std::string missing;
  std::function<void(const session::ExternalExport&)> writes;
  std::function<std::vector<at::Tensor>(const std::filesystem::path&,
                                        const std::vector<at::Tensor>&)>
      runs;
};

}  // namespace leapp::testing
