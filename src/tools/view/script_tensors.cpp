#include "view/script_tensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace leapp::view {
namespace {

// A limit above any real model. A pickle may refer to one value many times, also from within
// itself.
constexpr std::size_t kMostSteps = 1'000'000;
constexpr std::size_t kMostVisits = 100'000;
constexpr int kMostDepth = 64;
constexpr std::size_t kMostName = 4096;

struct Pickled;
using PickledRef = const Pickled*;

// A value of the pickle. Other values, such as an object's class, are empty.
struct Pickled {
  std::variant<std::monostate, std::int64_t, std::string> value = {};
  std::vector<PickledRef> items = {};                         // items of a tuple, a list or a call
  std::vector<std::pair<std::string, PickledRef>> keys = {};  // of a dict
  PickledRef state = nullptr;                                 // attributes of an object
};

// Owns the values that it reads.
class Unpickler {
 public:
  explicit Unpickler(std::string_view bytes) : rest_(bytes) {}

  PickledRef run() {
    for (std::size_t i = 0; i < kMostSteps && !rest_.empty(); ++i) {
      const auto code = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (code == '.') break;
      if (!step(code)) return nullptr;
    }
    return stack_.empty() ? nullptr : stack_.back();
  }

 private:
  bool step(unsigned char code) {
    switch (code) {
      case 0x80:  // protocol
        return number(1).has_value();
      case 'c':  // a class, by module and name
        return line() && push_text(std::string(*line_)) && line() && append_text();
      case 'q':
        return remember(number(1));
      case 'r':
        return remember(number(4));
      case 'h':
        return recall(number(1));
      case 'j':
        return recall(number(4));
      case 'X':
        return push_string(number(4));
      case 'K':
        return push_number(number(1));
      case 'M':
        return push_number(number(2));
      case 'J':
        return push_number(number(4));
      case 0x8a:
        return push_long();
      case 'G':
        return number(8) && push({});
      case 'N':
      case 0x88:
      case 0x89:
      case ')':
      case ']':
      case '}':
        return push({});
      default:
        return step_on_stack(code);
    }
  }

  bool step_on_stack(unsigned char code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case 't':
        return gather(popped_mark());
      case 0x85:
      case 0x86:
      case 0x87:
        return stack_.size() >= code - 0x84U && gather(stack_.size() - (code - 0x84U));
      case 'R':   // a call with arguments
      case 0x81:  // an object of a class
        return stack_.size() >= 2 && gather(stack_.size() - 2);
      case 'Q':
        return !stack_.empty();
      case 'u':
        return set_items(popped_mark());
      case 's':
        return stack_.size() >= 3 && set_items(stack_.size() - 2);
      case 'a':
        return stack_.size() >= 2 && add_items(stack_.size() - 1);
      case 'e':
        return add_items(popped_mark());
      case 'b':  // the state of an object: its attributes
        return build();
      default:
        return false;
    }
  }

  std::optional<std::uint64_t> number(std::size_t width) {
    if (rest_.size() < width) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(rest_[i]);
    }
    rest_.remove_prefix(width);
    return value;
  }

  bool line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return false;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool push(Pickled value) {
    stack_.push_back(&values_.emplace_back(std::move(value)));
    return true;
  }
  bool push_text(std::string text) { return push({.value = std::move(text)}); }
  bool append_text() {
    std::get<std::string>(stack_.back()->value) += "." + std::string(*line_);
    return true;
  }
  bool push_number(std::optional<std::uint64_t> value) {
    return value && push({.value = static_cast<std::int64_t>(*value)});
  }
  bool push_long() {
    const auto width = number(1);
    return width && *width <= 8 && push_number(number(static_cast<std::size_t>(*width)));
  }
  bool push_string(std::optional<std::uint64_t> size) {
    if (!size || rest_.size() < *size) return false;
    push_text(std::string(rest_.substr(0, static_cast<std::size_t>(*size))));
    rest_.remove_prefix(static_cast<std::size_t>(*size));
    return true;
  }
  bool remember(std::optional<std::uint64_t> key) {
    if (!key || stack_.empty()) return false;
    memo_[*key] = stack_.back();
    return true;
  }
  bool recall(std::optional<std::uint64_t> key) {
    const auto found = key ? memo_.find(*key) : memo_.end();
    if (found == memo_.end()) return false;
    stack_.push_back(found->second);
    return true;
  }

  std::size_t popped_mark() {
    if (marks_.empty()) return stack_.size() + 1;
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }
  bool gather(std::size_t begin) {
    if (begin > stack_.size()) return false;
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(begin);
    Pickled tuple{.items = std::vector<PickledRef>(first, stack_.end())};
    stack_.resize(begin);
    return push(std::move(tuple));
  }
  bool set_items(std::size_t begin) {
    if (begin == 0 || begin > stack_.size()) return false;
    for (std::size_t i = begin; i + 1 < stack_.size(); i += 2) {
      const auto* key = std::get_if<std::string>(&stack_[i]->value);
      if (key != nullptr) stack_[begin - 1]->keys.emplace_back(*key, stack_[i + 1]);
    }
    stack_.resize(begin);
    return true;
  }
  bool add_items(std::size_t begin) {
    if (begin == 0 || begin > stack_.size()) return false;
    std::vector<PickledRef>& items = stack_[begin - 1]->items;
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin);
    return true;
  }
  bool build() {
    if (stack_.size() < 2) return false;
    const PickledRef state = stack_.back();
    stack_.pop_back();
    stack_.back()->state = state;
    return true;
  }

  std::string_view rest_;
  std::optional<std::string_view> line_;
  std::deque<Pickled> values_;  // which keep their address
  std::vector<Pickled*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Pickled*> memo_;
};

std::optional<DType> dtype_of_storage(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DType>, 12> kStorages = {
      {{"torch.FloatStorage", DType::kFloat32},
       {"torch.DoubleStorage", DType::kFloat64},
       {"torch.HalfStorage", DType::kFloat16},
       {"torch.BFloat16Storage", DType::kBFloat16},
       {"torch.LongStorage", DType::kInt64},
       {"torch.IntStorage", DType::kInt32},
       {"torch.ShortStorage", DType::kInt16},
       {"torch.CharStorage", DType::kInt8},
       {"torch.ByteStorage", DType::kUInt8},
       {"torch.BoolStorage", DType::kBool},
       {"torch.ComplexFloatStorage", DType::kComplex64},
       {"torch.ComplexDoubleStorage", DType::kComplex128}}};
  for (const auto& [storage, dtype] : kStorages) {
    if (storage == name) return dtype;
  }
  return std::nullopt;
}

const std::string* text_in(const Pickled& value) {
  return std::get_if<std::string>(&value.value);
}

Shape numbers_in(const Pickled& tuple) {
  Shape numbers;
  for (const PickledRef& item : tuple.items) {
    const auto* number = std::get_if<std::int64_t>(&item->value);
    numbers.push_back(number == nullptr ? -1 : *number);
  }
  return numbers;
}

bool is_contiguous(const Shape& shape, const Shape& strides) {
  if (element_count(shape) == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && (i >= strides.size() || strides[i] != expected)) return false;
    expected *= shape[i];
  }
  return true;
}

// A call of torch._utils._rebuild_tensor_v2((storage), offset, sizes, strides, ..).
std::optional<ScriptTensor> tensor_in(const Pickled& call) {
  if (call.items.size() != 2) return std::nullopt;
  const std::string* function = text_in(*call.items[0]);
  const std::vector<PickledRef>& arguments = call.items[1]->items;
  if (function == nullptr || *function != "torch._utils._rebuild_tensor_v2" ||
      arguments.size() < 4 || arguments[0]->items.size() < 3) {
    return std::nullopt;
  }
  const std::vector<PickledRef>& storage = arguments[0]->items;
  const std::string* type = text_in(*storage[1]);
  const std::string* key = text_in(*storage[2]);
  const auto* offset = std::get_if<std::int64_t>(&arguments[1]->value);
  const auto dtype = type == nullptr ? std::nullopt : dtype_of_storage(*type);
  if (!dtype || key == nullptr || offset == nullptr || *offset < 0) return std::nullopt;
  ScriptTensor tensor;
  tensor.storage = *key;
  tensor.dtype = *dtype;
  tensor.shape = numbers_in(*arguments[2]);
  tensor.offset = static_cast<std::uint64_t>(*offset);
  if (!checked_element_count(tensor.shape)) return std::nullopt;
  tensor.contiguous = is_contiguous(tensor.shape, numbers_in(*arguments[3]));
  return tensor;
}

// The tensors of an object and of its members; `visits` limits the recursion.
void collect(const Pickled& object, const std::string& prefix, int depth, std::size_t& visits,
             std::vector<ScriptTensor>& found) {
  if (depth > kMostDepth) return;
  const Pickled& attributes = object.state == nullptr ? object : *object.state;
  for (const auto& [name, value] : attributes.keys) {
    if (++visits > kMostVisits || prefix.size() + name.size() > kMostName) return;
    if (std::optional<ScriptTensor> tensor = tensor_in(*value)) {
      tensor->name = prefix + name;
      found.push_back(std::move(*tensor));
    } else {
      collect(*value, prefix + name + ".", depth + 1, visits, found);
    }
  }
}

}  // namespace

std::vector<ScriptTensor> list_script_tensors(std::string_view pickle) {
  std::vector<ScriptTensor> found;
  Unpickler unpickler(pickle);
  std::size_t visits = 0;
  if (const PickledRef root = unpickler.run()) collect(*root, "", 0, visits, found);
  return found;
}

}  // namespace leapp::view
