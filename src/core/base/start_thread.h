// Starts threads, and throws an Error if the system cannot create one.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "leapp/error.h"

namespace leapp {

/// Returns a thread that runs `work`, which must not throw. Throws Error(kIo) if the system
/// refuses; `purpose` is part of the message: "could not start a thread to write the recording:
/// ..".
template <typename Work>
std::thread start_thread(const char* purpose, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    throw Error(Code::kIo, std::string("no thread could be started to ") + purpose + ": " +
                               error.code().message() +
                               "; the process or its user may have too many threads");
  }
}

}  // namespace leapp
