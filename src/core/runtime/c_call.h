// Shared code of the C interface's sources: the manager behind the handle, and the failure for
// leapp_last_error().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/c.h"
#include "leapp/inference_manager.h"

struct leapp_manager {
  explicit leapp_manager(leapp::InferenceManager loaded) : manager(std::move(loaded)) {}

  leapp::InferenceManager manager;
  // By index, so calls of the loop look up no names and do not allocate.
  std::vector<leapp::InputPort> inputs;
  std::vector<leapp::OutputPort> outputs;
  std::vector<const leapp::Port*> described_inputs;
  std::vector<const leapp::Port*> described_outputs;
  std::size_t state_bytes = 0;
};

namespace leapp::c {

/// Stores a failure and returns its status. Does not allocate.
leapp_status fail(Code code, std::string_view message);
inline leapp_status fail(const Error& error) {
  return fail(error.code(), error.what());
}
inline leapp_status fail(const Failure& failure) {
  return fail(failure.code(), failure.message());
}

leapp_status is_null(const char* argument);
leapp_status no_such(const char* side);

/// Stores a failed Result and returns its status.
inline leapp_status status_of(const Result<void>& result) {
  return result.ok() ? LEAPP_OK : fail(result.failure());
}

/// Runs a call and converts its exception to a status.
template <typename Call>
leapp_status guarded(const Call& call) noexcept {
  try {
    call();
    return LEAPP_OK;
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail(Failure(Code::kNoMemory, "out of memory"));
  } catch (const std::exception& error) {
    return fail(Failure(Code::kInternal, error.what()));
  } catch (...) {
    return fail(Failure(Code::kInternal, "an exception of an unknown type"));
  }
}

/// Writes the part of `value` that fits into the caller's struct of `size` bytes, and fills the
/// rest of the struct with zeros.
template <typename Struct>
void put_struct(const Struct& value, Struct* out, std::size_t size) noexcept {
  const std::size_t known = std::min(size, sizeof(Struct));
  std::memcpy(out, &value, known);
  std::memset(reinterpret_cast<char*>(out) + known, 0, size - known);
}

/// Reads the caller's struct of `size` bytes over `defaults`. Throws Error(kWrongValue) if a member
/// that this library does not know is not zero.
template <typename Struct>
Struct take_struct(const void* given, std::size_t size, Struct defaults, const char* name) {
  const std::size_t known = std::min(size, sizeof(Struct));
  std::memcpy(&defaults, given, known);
  const auto* bytes = static_cast<const char*>(given);
  if (std::any_of(bytes + known, bytes + size, [](char byte) { return byte != 0; })) {
    throw Error(Code::kRuntimeOptions,
                std::string(name) + " of " + std::to_string(size) +
                    " bytes sets members that this library, which knows " +
                    std::to_string(sizeof(Struct)) +
                    " bytes of it, does not have; load a newer libleapp_runtime.so");
  }
  return defaults;
}

/// Converts the options of C to those of the runtime; null means defaults. Throws Error.
RuntimeOptions runtime_options(const leapp_options* given);

}  // namespace leapp::c
