// Log messages of our code; leapp/log.h defines the sink that receives them.
#pragma once

#include <string_view>

#include "leapp/code.h"
#include "leapp/log.h"

namespace leapp {

/// Returns a second receiver of every line, for a log file that receives all of them regardless of
/// the sink.
LEAPP_EXPORT LogSink set_log_record(LogSink record);

LEAPP_EXPORT void log(LogLevel level, std::string_view message);

/// Logs a line that ends with its code, "... [LP621]".
LEAPP_EXPORT void log(LogLevel level, Code code, std::string_view message);
LEAPP_EXPORT void warn(Code code, std::string_view message);

}  // namespace leapp
