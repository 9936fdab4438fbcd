// Where LEAPP says things. The library itself never prints: it hands lines to a sink.
//
// Thread-safe. The default sink drops everything.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// "DEBUG", "INFO", "WARNING", "ERROR".
LEAPP_EXPORT std::string_view name_of(LogLevel level) noexcept;

using LogSink = std::function<void(LogLevel, std::string_view message)>;

/// Replaces the process-wide sink and returns the former one; an empty function means "drop".
LEAPP_EXPORT LogSink set_log_sink(LogSink sink);

/// A second receiver of every line, for a file that takes all of them whatever the sink shows.
LEAPP_EXPORT LogSink set_log_record(LogSink record);

LEAPP_EXPORT void log(LogLevel level, std::string_view message);

}  // namespace leapp
