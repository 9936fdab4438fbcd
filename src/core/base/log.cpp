#include "base/log.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace leapp {
namespace {

struct Receiver {
  LogSink sink;
  LogLevel least = LogLevel::kDebug;

  void take(LogLevel level, std::string_view message) const {
    if (sink && level >= least) sink(level, message);
  }
};

std::mutex receiver_mutex;
// Null: no sink. A program must not fail for lack of memory before it starts.
std::shared_ptr<const Receiver> current_sink;
std::shared_ptr<const Receiver> current_record;

LogSink replace(std::shared_ptr<const Receiver>& slot, Receiver receiver) {
  auto next = std::make_shared<const Receiver>(std::move(receiver));
  const std::lock_guard lock(receiver_mutex);
  std::swap(next, slot);
  return next ? next->sink : LogSink();
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

LogSink set_log_sink(LogSink sink, LogLevel least) {
  return replace(current_sink, {std::move(sink), least});
}

LogSink set_log_record(LogSink record) {
  return replace(current_record, {std::move(record), LogLevel::kDebug});
}

void log(LogLevel level, std::string_view message) {
  std::shared_ptr<const Receiver> sink;
  std::shared_ptr<const Receiver> record;
  {
    const std::lock_guard lock(receiver_mutex);
    sink = current_sink;
    record = current_record;
  }
  if (!record && !sink) return;
  const std::string line = printable(message);
  // Called outside the lock, because a sink may log, or wait for Python's interpreter lock.
  if (record) record->take(level, line);
  if (sink) sink->take(level, line);
}

void log(LogLevel level, Code code, std::string_view message) {
  log(level, bounded_message(printable(message)) + tag_of(code));
}

void warn(Code code, std::string_view message) {
  log(LogLevel::kWarning, code, message);
}

}  // namespace leapp
