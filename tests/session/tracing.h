// A session in its own directory for one test, and its results.
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

/// Returns the code of the error that `call` throws, or nothing.
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

  void begin(session::FrontEnd* front_end = nullptr, Noise noise = Noise::kPort) {
    session::start({.name = "g", .save_path = folder_.string(), .noise = noise}, front_end);
  }
  void begin_with(Noise noise) { begin(nullptr, noise); }
  /// Calls stop(), even if passes are open.
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
  /// Runs one pass that doubles two ones, and returns its output.
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
  /// Returns the diagnostics, most harmful first.
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
