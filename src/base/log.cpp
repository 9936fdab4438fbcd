#include "base/log.h"

#include <memory>
#include <mutex>
#include <utility>

namespace leapp {
namespace {

std::mutex sink_mutex;
std::shared_ptr<const LogSink> current_sink = std::make_shared<LogSink>();

}  // namespace

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug: return "DEBUG";
    case LogLevel::kInfo: return "INFO";
    case LogLevel::kWarning: return "WARNING";
    case LogLevel::kError: return "ERROR";
  }
  return "?";
}

LogSink set_log_sink(LogSink sink) {
  auto next = std::make_shared<const LogSink>(std::move(sink));
  const std::lock_guard lock(sink_mutex);
  std::swap(next, current_sink);
  return *next;
}

void log(LogLevel level, std::string_view message) {
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(sink_mutex);
    sink = current_sink;
  }
  // Called outside the lock: a sink may itself log, or wait for Python's interpreter lock.
  if (*sink) (*sink)(level, message);
}

}  // namespace leapp
