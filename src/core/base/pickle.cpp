#include "base/pickle.h"

#include <algorithm>

#include "leapp/error.h"

namespace leapp {

using Kind = PickleValue::Kind;

namespace {

void expect(bool condition, const char* reason) {
  if (!condition) throw Error(Code::kBadModel, reason);
}

}  // namespace

Pickle::Pickle(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {
  while (root_ == nullptr) {
    const auto code = static_cast<unsigned char>(this->bytes(1).front());
    if (code == '.') {
      expect(stack_.size() == 1 && marks_.empty(), "its pickle does not end with one value");
      root_ = stack_.back();
    } else {
      step(code);
    }
  }
}

void Pickle::step(unsigned char code) {
  switch (code) {
    case 0x80:  // protocol
      number(1);
      break;
    case 'c': {
      const std::string_view module = line();
      push({.kind = Kind::kGlobal, .text = std::string(module) + "." + std::string(line())});
      break;
    }
    case 'q':
      remember(number(1));
      break;
    case 'r':
      remember(number(4));
      break;
    case 'h':
      recall(number(1));
      break;
    case 'j':
      recall(number(4));
      break;
    case 'X':
      push({.kind = Kind::kText, .text = std::string(this->bytes(number(4)))});
      break;
    case 'K':
      push({.kind = Kind::kNumber, .number = static_cast<std::int64_t>(number(1))});
      break;
    case 'M':
      push({.kind = Kind::kNumber, .number = static_cast<std::int64_t>(number(2))});
      break;
    case 'J':
      push_signed(4);
      break;
    case 0x8a:
      push_signed(number(1));
      break;
    case 'G':
      number(8);
      push({});
      break;
    case 'N':
    case 0x88:
    case 0x89:
      push({});
      break;
    case ')':
      push({.kind = Kind::kTuple});
      break;
    case ']':
      push({.kind = Kind::kList});
      break;
    case '}':
      push({.kind = Kind::kDict});
      break;
    default:
      step_on_stack(code);
  }
}

void Pickle::step_on_stack(unsigned char code) {
  switch (code) {
    case '(':
      marks_.push_back(stack_.size());
      break;
    case 0x85:
    case 0x86:
    case 0x87:
      expect(stack_.size() >= code - 0x84U, "its pickle lacks values");
      gather(Kind::kTuple, stack_.size() - (code - 0x84U));
      break;
    case 'R':   // a call of a function with arguments
    case 0x81:  // an object of a class
      expect(stack_.size() >= 2 && stack_[stack_.size() - 2]->kind == Kind::kGlobal,
             "its pickle calls a value that is not a function");
      gather(code == 'R' ? Kind::kCall : Kind::kObject, stack_.size() - 2);
      break;
    case 'Q':
      top(Kind::kTuple);
      gather(Kind::kStorage, stack_.size() - 1);
      break;
    case 'b': {  // the state of an object: its attributes
      PickleValue* const state = pop();
      PickleValue& object = top(Kind::kObject);
      put_into(object, *state);
      object.state = state;
      break;
    }
    default:
      step_on_marked(code);
  }
}

void Pickle::step_on_marked(unsigned char code) {
  switch (code) {
    case 't':
      gather(Kind::kTuple, pop_mark());
      break;
    case 'a':
      add_items(stack_.empty() ? 0 : stack_.size() - 1);
      break;
    case 'e':
      add_items(pop_mark());
      break;
    case 's':
      set_items(stack_.size() < 2 ? 0 : stack_.size() - 2);
      break;
    case 'u':
      set_items(pop_mark());
      break;
    default:
      throw Error(Code::kBadModel,
                  "its pickle has an instruction that PyTorch does not write, at byte " +
                      std::to_string(size_ - rest_.size() - 1));
  }
}

std::string_view Pickle::bytes(std::size_t size) {
  expect(size <= rest_.size(), "its pickle is truncated");
  const std::string_view read = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return read;
}

std::uint64_t Pickle::number(std::size_t width) {
  std::uint64_t value = 0;
  const std::string_view read = bytes(width);
  for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(read[i]);
  return value;
}

std::string_view Pickle::line() {
  const std::string_view read = bytes(std::min(rest_.find('\n'), rest_.size()));
  bytes(1);
  return read;
}

void Pickle::push(PickleValue value) {
  expect(values_.size() < kMaxValues, "its pickle has too many values");
  stack_.push_back(&values_.emplace_back(std::move(value)));
}

// Two's complement of that many bytes.
void Pickle::push_signed(std::size_t width) {
  expect(width <= 8, "its pickle has a number that is too large");
  std::uint64_t value = number(width);
  if (width > 0 && width < 8 && (value >> (8 * width - 1)) != 0)
    value -= std::uint64_t{1} << 8 * width;
  push({.kind = Kind::kNumber, .number = static_cast<std::int64_t>(value)});
}

PickleValue& Pickle::top(Kind kind) {
  expect(!stack_.empty() && stack_.back()->kind == kind,
         "its pickle changes a value of another type");
  return *stack_.back();
}

PickleValue* Pickle::pop() {
  expect(!stack_.empty(), "its pickle lacks values");
  PickleValue* const value = stack_.back();
  stack_.pop_back();
  return value;
}

std::size_t Pickle::pop_mark() {
  expect(!marks_.empty() && marks_.back() <= stack_.size(), "its pickle lacks values");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  return mark;
}

void Pickle::remember(std::uint64_t key) {
  expect(!stack_.empty(), "its pickle lacks values");
  memo_[key] = stack_.back();
}

void Pickle::recall(std::uint64_t key) {
  const auto found = memo_.find(key);
  expect(found != memo_.end(), "its pickle refers to a missing value");
  stack_.push_back(found->second);
}

// A container must not change after another one contains it: the depth of the outer one would be
// wrong.
void Pickle::put_into(PickleValue& container, PickleValue& value) {
  value.is_inside = true;
  expect(!container.is_inside, "its pickle changes a value that another value already contains");
  container.depth = std::max(container.depth, value.depth + 1);
  container.count += value.count;
  expect(container.depth <= kMaxDepth, "its values are nested too deeply");
  expect(container.count <= kMaxValues, "its pickle has too many values");
}

void Pickle::gather(Kind kind, std::size_t begin) {
  PickleValue made{.kind = kind};
  for (std::size_t i = begin; i < stack_.size(); ++i) {
    put_into(made, *stack_[i]);
    made.items.push_back(stack_[i]);
  }
  stack_.resize(begin);
  push(std::move(made));
}

void Pickle::add_items(std::size_t begin) {
  expect(begin > 0 && stack_[begin - 1]->kind == Kind::kList,
         "its pickle changes a value of another type");
  PickleValue& list = *stack_[begin - 1];
  for (std::size_t i = begin; i < stack_.size(); ++i) {
    put_into(list, *stack_[i]);
    list.items.push_back(stack_[i]);
  }
  stack_.resize(begin);
}

void Pickle::set_items(std::size_t begin) {
  expect(begin > 0 && stack_[begin - 1]->kind == Kind::kDict && (stack_.size() - begin) % 2 == 0,
         "its pickle changes a value of another type");
  PickleValue& dict = *stack_[begin - 1];
  for (std::size_t i = begin; i < stack_.size(); i += 2) {
    put_into(dict, *stack_[i]);
    put_into(dict, *stack_[i + 1]);
    if (stack_[i]->kind == Kind::kText) dict.keys.emplace_back(stack_[i]->text, stack_[i + 1]);
  }
  stack_.resize(begin);
}

}  // namespace leapp
