// What the C interface's sources share: the manager behind the handle, and how a failure is kept
// for leapp_last_error().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/c.h"
#include "leapp/inference_manager.h"

struct leapp_manager {
  leapp::InferenceManager manager;
  std::vector<leapp::InputPort> inputs;
  std::vector<leapp::OutputPort> outputs;
};

namespace leapp::c {

/// Keeps a failure and returns its status. Allocates nothing.
leapp_status fail(Code code, std::string_view message);
inline leapp_status fail(const Error& error) {
  return fail(error.code(), error.what());
}
inline leapp_status fail(const Failure& failure) {
  return fail(failure.code(), failure.message());
}

leapp_status is_null(const char* argument);
leapp_status no_such(const char* side);

/// Runs a call and turns what it throws into a status.
template <typename Call>
leapp_status guarded(const Call& call) noexcept {
  try {
    call();
    return LEAPP_OK;
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::exception& error) {
    return fail(Error(Code::kInternal, error.what()));
  }
}

/// What the options of C mean; null for the defaults. Throws Error.
RuntimeOptions runtime_options(const leapp_options* given);

}  // namespace leapp::c
