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

/// The longest list that is read: robots have tens of joints, not thousands.
inline constexpr std::size_t kMaxList = 4096;
/// The longest history, in ticks.
inline constexpr std::int64_t kMaxHistory = 1000;

/// Values that a list of numbers may contain.
enum class Bounds { kFinite, kMayBeInfinite };

/// Fields of one description. `file` stands for it in errors. Throws LP822 for a key that is
/// missing and LP823 for a value of the wrong form; both name the key and what to give.
class Fields {
 public:
  /// Reads the keys. Throws LP823 for a duplicate key, which readers would interpret differently.
  Fields(std::string file, const onnx::Properties& metadata, const Settings& settings);

  const std::string& file() const noexcept { return file_; }
  bool has(const std::string& key) const { return find(key) != nullptr; }

  /// Returns the value as it stands, or null.
  const std::string* find(const std::string& key) const;
  /// Returns the text of a key. `what` describes the value for the error of a missing key: "the
  /// joints, in order".
  const std::string& text(const std::string& key, const std::string& what) const;
  /// Returns the parts between commas, without the spaces around them; a list of JSON reads the
  /// same. None may be empty.
  std::vector<std::string> texts(const std::string& key, const std::string& what) const;
  std::vector<double> numbers(const std::string& key, const std::string& what,
                              Bounds bounds = Bounds::kFinite) const;
  /// Numbers, each of which may be several between ';' or in brackets.
  std::vector<std::vector<double>> nested(const std::string& key, const std::string& what,
                                          Bounds bounds = Bounds::kFinite) const;
  std::optional<double> positive(const std::string& key) const;

  [[noreturn]] void fail(Code code, const std::string& key, const std::string& what) const;
  /// Throws LP823 unless there are that many: "one for each joint".
  void check_count(const std::string& key, std::size_t found, std::size_t expected,
                   const std::string& what) const;
  /// Throws LP003 for a setting that was never asked for.
  void check_settings() const;

 private:
  std::string file_;
  std::map<std::string, std::string> values_;
  std::set<std::string> settings_;
  mutable std::set<std::string> asked_;
};

/// Returns a number, all of the text; empty for anything else.
std::optional<double> parse_number(const std::string& text);

/// Returns whether a number is finite as a float32, the type of all constants of imported nodes:
/// 1e39 is not.
bool is_finite_float(double value);

}  // namespace leapp::importing
