#include "base/log.h"

#include <memory>
#include <mutex>
#include <utility>

namespace leapp {
namespace {

std::mutex sink_mutex;
std::shared_ptr<const LogSink> current_sink = std::make_shared<LogSink>();
std::shared_ptr<const LogSink> current_record = std::make_shared<LogSink>();

LogSink replace(std::shared_ptr<const LogSink>& slot, LogSink sink) {
  auto next = std::make_shared<const LogSink>(std::move(sink));
  const std::lock_guard lock(sink_mutex);
  std::swap(next, slot);
  return *next;
}

}  // namespace

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "?";
}

LogSink set_log_sink(LogSink sink) {
  return replace(current_sink, std::move(sink));
}
LogSink set_log_record(LogSink record) {
  return replace(current_record, std::move(record));
}

void log(LogLevel level, std::string_view message) {
  std::shared_ptr<const LogSink> sink;
  std::shared_ptr<const LogSink> record;
  {
    const std::lock_guard lock(sink_mutex);
    sink = current_sink;
    record = current_record;
  }
  // Called outside the lock: a sink may itself log, or wait for Python's interpreter lock.
  if (*record) (*record)(level, message);
  if (*sink) (*sink)(level, message);
}

}  // namespace leapp
