#include "session/record/diagnostic.h"

#include <algorithm>
#include <cstdio>

#include "base/log.h"

namespace leapp {
namespace {

// Returns the rank of a diagnostic; the most harmful have the lowest.
int harm_of(const Diagnostic& diagnostic) {
  if (diagnostic.level != LogLevel::kWarning) {
    return diagnostic.level == LogLevel::kError ? 0 : 3;
  }
  return diagnostic.settled_by_another_pass ? 2 : 1;
}

void append_quoted(std::string& json, const std::string& text) {
  json += '"';
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      json.append("\\").push_back(letter);
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
      json += escaped;
    } else {
      json += letter;
    }
  }
  json += '"';
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  const std::string place = diagnostic.where.empty() ? "" : diagnostic.where + ": ";
  return place + diagnostic.text + tag_of(diagnostic.code);
}

std::string to_json(const std::vector<Diagnostic>& diagnostics) {
  std::string json = "[";
  for (const Diagnostic& each : diagnostics) {
    json += json.size() == 1 ? "\n  {\"code\": " : ",\n  {\"code\": ";
    append_quoted(json, to_string(each.code));
    json += ", \"level\": ";
    append_quoted(json, std::string(name_of(each.level)));
    json += ", \"node\": ";
    append_quoted(json, each.node);
    json += ", \"where\": ";
    append_quoted(json, each.where);
    json += ", \"text\": ";
    append_quoted(json, each.text);
    json += ", \"settled_by_another_pass\": ";
    json += each.settled_by_another_pass ? "true}" : "false}";
  }
  return json + (diagnostics.empty() ? "]\n" : "\n]\n");
}

bool Diagnostics::add(Diagnostic diagnostic) {
  const std::string line = to_string(diagnostic);
  const LogLevel level = diagnostic.level;
  {
    const std::lock_guard lock(mutex_);
    if (std::find(said_.begin(), said_.end(), diagnostic) != said_.end()) return false;
    said_.push_back(std::move(diagnostic));
  }
  log(level, line);
  return true;
}

std::vector<Diagnostic> Diagnostics::by_harm() const {
  std::vector<Diagnostic> sorted;
  {
    const std::lock_guard lock(mutex_);
    sorted = said_;
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return harm_of(a) < harm_of(b);
  });
  return sorted;
}

void Diagnostics::clear() {
  const std::lock_guard lock(mutex_);
  said_.clear();
}

}  // namespace leapp
