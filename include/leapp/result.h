// Result type of the real-time calls: a value, or a failure that names its cause.
//
//   leapp::Result<void> done = manager.tick();
//   if (!done) stop_the_robot(done.failure().message());
//
// These types never allocate: a failure stores its text inline and truncates it if it is too long.
// value() converts a failure to an exception: it throws leapp::Error.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "leapp/error.h"

namespace leapp {

/// Reason for a failed call. Trivially copyable.
class LEAPP_EXPORT Failure {
 public:
  static constexpr std::size_t kCapacity = 496;

  Failure(Code code, std::string_view text) noexcept : Failure(code, {text}) {}

  /// Joins the parts, so that a message can be composed without an allocation.
  Failure(Code code, std::initializer_list<std::string_view> parts) noexcept;

  Code code() const noexcept { return code_; }
  ErrorKind kind() const noexcept { return kind_of(code_); }
  /// Returns the message with the code at its end: "... [LP604]".
  std::string_view message() const noexcept { return {text_.data(), size_}; }
  /// Returns the message without the code at its end.
  std::string_view text() const noexcept { return {text_.data(), text_size_}; }
  Error to_error() const { return Error(code_, std::string(text())); }

 private:
  void append(std::string_view part, std::size_t limit) noexcept;

  Code code_;
  std::size_t text_size_ = 0;
  std::size_t size_ = 0;
  std::array<char, kCapacity> text_;  // only the first size_ characters are meaningful
};

/// A T, or a Failure if the call failed.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(const Failure& failure) noexcept
      : state_(failure) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// Returns the failure. Only if not ok().
  const Failure& failure() const noexcept { return *std::get_if<Failure>(&state_); }
  /// Returns the value. Only if ok().
  const T& operator*() const noexcept { return *std::get_if<T>(&state_); }
  T& operator*() noexcept { return *std::get_if<T>(&state_); }
  const T* operator->() const noexcept { return std::get_if<T>(&state_); }

  /// Returns the value; throws the failure as an Error.
  const T& value() const& {
    if (!ok()) throw failure().to_error();
    return **this;
  }
  T value() && {
    if (!ok()) throw failure().to_error();
    return std::move(**this);
  }

 private:
  std::variant<T, Failure> state_;
};

/// Success, or a Failure.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  Result(const Failure& failure) noexcept
      : failure_(failure) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return !failure_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// Returns the failure. Only if not ok().
  const Failure& failure() const noexcept { return *failure_; }

  /// Throws the failure as an Error.
  void value() const {
    if (!ok()) throw failure().to_error();
  }

 private:
  std::optional<Failure> failure_;
};

}  // namespace leapp
