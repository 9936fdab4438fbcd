#include "runtime/c_call.h"

#include <algorithm>
#include <array>

namespace leapp::c {
namespace {

// Inline, so a failing tick does not allocate.
thread_local std::array<char, 2048> last_error{};
thread_local std::array<char, 8> last_code{};

template <std::size_t kSize>
void keep(std::array<char, kSize>& place, std::string_view text) {
  const std::size_t size = std::min(text.size(), kSize - 1);
  std::copy_n(text.data(), size, place.data());
  place[size] = '\0';
}

leapp_status status_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return LEAPP_USAGE;
    case ErrorKind::kType:
      return LEAPP_TYPE;
    case ErrorKind::kValue:
    case ErrorKind::kExport:
    case ErrorKind::kValidation:
      return LEAPP_VALUE;
    case ErrorKind::kNotFound:
      return LEAPP_NOT_FOUND;
    case ErrorKind::kIo:
      return LEAPP_IO;
    case ErrorKind::kInternal:
      return LEAPP_INTERNAL;
  }
  return LEAPP_INTERNAL;
}

}  // namespace

leapp_status fail(Code code, std::string_view message) {
  keep(last_error, message);
  keep(last_code, to_string(code));  // short enough for the string's internal buffer
  return status_for(kind_of(code));
}

leapp_status is_null(const char* argument) {
  return fail(Failure(Code::kWrongValue, {argument, " is null"}));
}

leapp_status no_such(const char* side) {
  return fail(Failure(Code::kUnknownPort, {"the ", side, "'s index is out of range"}));
}

}  // namespace leapp::c

extern "C" {

const char* leapp_last_error(void) {
  return leapp::c::last_error.data();
}

const char* leapp_last_code(void) {
  return leapp::c::last_code.data();
}

}  // extern "C"
