// Messages of LEAPP: sends its lines to your own logger.
//
//   leapp::set_log_sink([](leapp::LogLevel level, std::string_view line) {
//     my_logger.write(leapp::name_of(level), line);
//   });
//
// The library itself never prints: it passes lines to one sink per process, and drops them if there
// is none (the default). Errors are thrown, not logged; the sink receives warnings and remarks.
// Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Returns "DEBUG", "INFO", "WARNING", "ERROR".
LEAPP_EXPORT std::string_view name_of(LogLevel level) noexcept;

/// Called in the thread that logs, never while LEAPP holds a lock. A line has no line break at the
/// end, but a graph or a report has line breaks inside.
using LogSink = std::function<void(LogLevel level, std::string_view line)>;

/// Replaces the sink and returns the previous one; an empty function drops all lines. The sink does
/// not receive lines below `least`. If another thread is calling the old sink, it may still receive
/// that line. Exceptions of the sink are dropped while a session traces.
LEAPP_EXPORT LogSink set_log_sink(LogSink sink, LogLevel least = LogLevel::kDebug);

/// Returns the text with control characters (U+0000 to U+001F, U+007F to U+009F, except line breaks
/// and tabs), characters that hide text or change its direction (U+202E), and bytes that are not
/// UTF-8 escaped, as in "\x1B", so that text from a file cannot control the terminal. Errors,
/// failures and lines of the log are already escaped.
LEAPP_EXPORT std::string printable(std::string_view text);

}  // namespace leapp
