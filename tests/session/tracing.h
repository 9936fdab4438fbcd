// A session in a folder of its own for one test, and what it leaves behind.
#pragma once

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "leapp/leapp.h"
#include "session/front_end.h"
#include "session/front_end_interface.h"
#include "session/session.h"

namespace leapp::testing {

/// The code of what `call` throws; nothing when it throws nothing.
template <typename Call>
std::optional<Code> code_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

class Tracing : public ::testing::Test {
 protected:
  void SetUp() override {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("leapp_tracing_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  }
  void TearDown() override {
    if (is_active()) end();
    session::detach_front_end();
    std::filesystem::remove_all(folder_);
  }

  void begin(session::FrontEnd* front_end = nullptr) {
    session::start({.name = "g", .save_path = folder_.string()}, front_end);
  }
  /// stop(), whatever was left open.
  static void end() {
    for (const std::string& open : front_end::open_nodes()) {
      annotate::abandon(open);
    }
    stop();
  }

  static at::Tensor in(const std::string& node, const at::Tensor& value,
                       const std::string& name = "x") {
    return annotate::input_tensors(node, {{name, value}})[0];
  }
  static at::Tensor out(const std::string& node, const at::Tensor& value,
                        const std::string& name = "y") {
    return annotate::output_tensors(node, {{name, value}}, {.export_with = "jit"})[0];
  }
  /// One pass that doubles two ones; returns what it put out.
  static at::Tensor pass(const std::string& node = "n") {
    return out(node, in(node, at::ones({2})) * 2);
  }

  static const session::Node& node(const std::string& name = "n") {
    for (const session::Node* each : session::Session::instance().nodes()) {
      if (each->name == name) return *each;
    }
    throw std::out_of_range("no node '" + name + "'");
  }
  static const session::Pass& first_pass(const std::string& name = "n") {
    return node(name).passes.at(0);
  }
  /// What was said, most harmful first.
  static std::vector<Code> codes() {
    std::vector<Code> codes;
    for (const Diagnostic& each : session::Session::instance().diagnostics().by_harm()) {
      codes.push_back(each.code);
    }
    return codes;
  }

  std::filesystem::path folder_;
};

}  // namespace leapp::testing
