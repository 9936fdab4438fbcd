// The keys of a description: metadata of a model, or settings of the caller, which take precedence.
// Remembers which keys were requested, to find unused settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leapp/code.h"
#include "onnx/model.h"

namespace leapp::importing {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// The maximum length of a list: robots have tens of joints, not thousands.
inline constexpr std::size_t kMaxList = 4096;
/// The maximum length of a history, in ticks.
inline constexpr std::int64_t kMaxHistory = 1000;

/// Values that a list of numbers may contain.
enum class Bounds { kFinite, kMayBeInfinite };

/// Fields of one description. `file` is its name in errors. Throws LP822 for a missing key and
/// LP823 for an invalid value; both name the key and the expected value.
class Fields {
 public:
  /// Reads the keys. Throws LP823 for a duplicate key, which readers would interpret differently.
  Fields(std::string file, const onnx::Properties& metadata, const Settings& settings);

  const std::string& file() const noexcept { return file_; }
  bool has(const std::string& key) const { return find(key) != nullptr; }

  /// Returns the value unchanged, or null.
  const std::string* find(const std::string& key) const;
  /// Returns the text of a key. `what` describes the value for the error of a missing key: "the
  /// joints, in order".
  const std::string& text(const std::string& key, const std::string& what) const;
  /// Returns the parts between commas, without surrounding spaces; also for a JSON list. No part
  /// may be empty.
  std::vector<std::string> texts(const std::string& key, const std::string& what) const;
  std::vector<double> numbers(const std::string& key, const std::string& what,
                              Bounds bounds = Bounds::kFinite) const;
  /// Returns numbers, each of which may be a group separated by ';' or in brackets.
  std::vector<std::vector<double>> nested(const std::string& key, const std::string& what,
                                          Bounds bounds = Bounds::kFinite) const;
  std::optional<double> positive(const std::string& key) const;

  [[noreturn]] void fail(Code code, const std::string& key, const std::string& what) const;
  /// Throws LP823 unless there are `count` values. `what` describes them: "one for each joint".
  void check_count(const std::string& key, std::size_t found, std::size_t expected,
                   const std::string& what) const;
  /// Throws LP003 for a setting that was never read.
  void check_settings() const;

 private:
  std::string file_;
  std::map<std::string, std::string> values_;
  std::set<std::string> settings_;
  mutable std::set<std::string> asked_;
};

/// Returns a number if all of the text is one; empty for anything else.
std::optional<double> parse_number(const std::string& text);

/// Returns whether a number is finite as a float32, the type of all constants of imported nodes:
/// 1e39 is not.
bool is_finite_float(double value);

}  // namespace leapp::importing
