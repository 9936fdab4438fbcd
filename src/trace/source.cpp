#include "trace/source.h"

#include <atomic>

namespace leapp::trace {
namespace {

std::atomic<FrameRef (*)() noexcept> capture_hook = nullptr;
std::atomic<ir::SourceLocation (*)(FrameRef)> resolve_hook = nullptr;
std::atomic<bool (*)(FrameRef)> shown_hook = nullptr;

// source_location points to static strings, so storing the struct itself is sufficient.
thread_local std::source_location cpp_location;

thread_local const char* cpp_file = nullptr;

}  // namespace

void set_source_hooks(SourceHooks hooks) noexcept {
  capture_hook = hooks.capture;
  resolve_hook = hooks.resolve;
  shown_hook = hooks.only_shown;
}

FrameRef capture_source() noexcept {
  if (const auto hook = capture_hook.load(std::memory_order_relaxed)) {
    const FrameRef frame = hook();
    if (frame.code != nullptr) return frame;
  }
  if (cpp_file == nullptr) return {};
  return {cpp_file, -static_cast<int>(cpp_location.line())};
}

ir::SourceLocation resolve_source(FrameRef frame) {
  if (frame.code == nullptr) return {};
  // A negative position marks a C++ place: `code` is then the file's static string.
  if (frame.position < 0) return {static_cast<const char*>(frame.code), -frame.position, ""};
  const auto hook = resolve_hook.load(std::memory_order_relaxed);
  return hook ? hook(frame) : ir::SourceLocation{};
}

std::string line_prefix(FrameRef frame) {
  const std::string where = resolve_source(frame).to_string();
  return where.empty() ? where : where + ": ";
}

bool only_shown(FrameRef frame) {
  const auto hook = shown_hook.load(std::memory_order_relaxed);
  return hook && frame.code != nullptr && frame.position >= 0 && hook(frame);
}

void set_cpp_location(const std::source_location& where) noexcept {
  cpp_location = where;
  cpp_file = where.file_name();
}

}  // namespace leapp::trace
