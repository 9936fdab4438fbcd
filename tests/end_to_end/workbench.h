// A directory for one traced graph, with the questions of a test about it.
#pragma once

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "../core/runtime/support.h"
#include "interop/convert.h"
#include "leapp/inference_manager.h"
#include "leapp/leapp.h"
#include "session/front_end.h"
#include "session/session.h"

namespace leapp::testing {

class Workbench : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }

  void SetUp() override {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("leapp_session_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  }
  void TearDown() override {
    for (const std::string& open : front_end::open_nodes()) {
      annotate::abandon(open);
    }
    if (is_active()) stop();
    std::filesystem::remove_all(folder_);
  }

  void begin() { start({.name = "g", .save_path = folder_.string()}); }
  std::filesystem::path file(const std::string& name) const { return folder_ / "g" / name; }
  std::string text_of(const std::string& name) const {
    std::ifstream stream(file(name));
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  InferenceManager manager() const { return InferenceManager(file("g.yaml").string()); }

  std::filesystem::path folder_;
};

inline Tensor to_leapp(const at::Tensor& tensor) {
  return Tensor(interop::view_of(tensor.contiguous()));
}

inline at::Tensor to_torch(const Tensor& tensor) {
  at::Tensor made = at::empty(tensor.shape(), interop::to_scalar_type(tensor.dtype()));
  std::memcpy(made.data_ptr(), tensor.data(), made.nbytes());
  return made;
}

}  // namespace leapp::testing
