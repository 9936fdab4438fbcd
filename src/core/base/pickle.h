// The pickles in PyTorch's archives, read as data: nothing that they name is imported or called.
//
// PyTorch writes a subset of Python's instructions, and libtorch reads that subset with few checks:
// deeply nested values overflow its stack, and a call may have any arguments. Therefore LEAPP reads
// a pickle here first, and refuses it unless every value has the expected type.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/visibility.h"

namespace leapp {

/// A value of a pickle. The pickle owns it. A container is complete before another one contains it.
struct PickleValue {
  enum class Kind : std::uint8_t {
    kOther,    ///< None, a bool or a floating-point number
    kNumber,   ///< an integer
    kText,     ///< a string
    kGlobal,   ///< the name of a class or function
    kTuple,    ///< `items`
    kList,     ///< `items`
    kDict,     ///< `keys`: the entries whose key is a string
    kCall,     ///< `items`: the function and its arguments
    kObject,   ///< `items`: the class; `state`: its attributes
    kStorage,  ///< `items`: the tuple that describes the memory of tensors
  };
  Kind kind = Kind::kOther;
  std::int64_t number = 0;
  std::string text = {};  ///< of a string; "module.name" of a global
  std::vector<const PickleValue*> items = {};
  std::vector<std::pair<std::string, const PickleValue*>> keys = {};
  const PickleValue* state = nullptr;

  std::uint32_t depth = 1;  ///< nesting levels, including this one
  std::uint64_t count = 1;  ///< number of values; a shared value counts at each use
  bool is_inside = false;   ///< another value contains it
};

/// A pickle that was read. The addresses of its values are stable while it lives.
class Pickle {
 public:
  /// Limits of nesting and of the number of values; more than any model needs.
  static constexpr std::uint32_t kMaxDepth = 400;
  static constexpr std::uint64_t kMaxValues = 4'000'000;

  /// Throws Error (LP617) if PyTorch would not write such a pickle, or if it exceeds the limits.
  LEAPP_EXPORT explicit Pickle(std::string_view bytes);

  const PickleValue& root() const noexcept { return *root_; }
  /// Returns all values, in the order of their creation: arguments before their calls.
  const std::deque<PickleValue>& values() const noexcept { return values_; }

 private:
  void step(unsigned char code);
  void step_on_stack(unsigned char code);
  void step_on_marked(unsigned char code);
  std::uint64_t number(std::size_t width);
  std::string_view bytes(std::size_t size);
  std::string_view line();
  void push(PickleValue value);
  void push_signed(std::size_t width);
  PickleValue& top(PickleValue::Kind kind);
  PickleValue* pop();
  std::size_t pop_mark();
  void remember(std::uint64_t key);
  void recall(std::uint64_t key);
  void gather(PickleValue::Kind kind, std::size_t begin);
  void put_into(PickleValue& container, PickleValue& value);
  void add_items(std::size_t begin);
  void set_items(std::size_t begin);

  std::string_view rest_;
  std::size_t size_;
  std::deque<PickleValue> values_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleValue*> memo_;
  const PickleValue* root_ = nullptr;
};

}  // namespace leapp
