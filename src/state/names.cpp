#include "state/names.h"

#include <array>
#include <cctype>

namespace leapp::state {
namespace {

std::string ordinal(std::int32_t item) {
  static constexpr std::array<const char*, 10> kWords = {"first", "second", "third",   "fourth",
                                                         "fifth", "sixth",  "seventh", "eighth",
                                                         "ninth", "tenth"};
  const auto index = static_cast<std::size_t>(item);
  return index < kWords.size() ? std::string(kWords[index]) : "item " + std::to_string(item);
}

}  // namespace

std::string identifier_of(const std::string& path) {
  // The first variable of a path is less informative than the rest.
  const std::size_t first = path.find_first_of(".[");
  const std::string rest =
      first == std::string::npos || first + 1 >= path.size() ? path : path.substr(first + 1);
  std::string name;
  for (const char letter : rest) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      name += letter;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

std::string describe_argument(const trace::Tape& tape, const trace::Site& site,
                              const Paths& paths) {
  const trace::Call& call = tape.call(site.call);
  if (call.frame.code == nullptr) return "";  // a call without a frame
  const at::Tensor tensor = tape.tensor(trace::variable_at(tape, site));
  const std::string path = paths && tensor.defined() ? paths(tensor) : "";
  const std::string name = call.op.schema().arguments()[static_cast<std::size_t>(site.arg)].name();
  const std::string place = site.item < 0 ? "its argument '" + name + "'"
                                          : "the " + ordinal(site.item) + " of its '" + name + "'";
  return " (" + (path.empty() ? "" : "'" + path + "', ") + place + ")";
}

std::string describe_read(const trace::Tape& tape, const trace::Site& site, const at::Tensor& read,
                          const Paths& paths) {
  const trace::Call& call = tape.call(site.call);
  return call.op.schema().name() + " reads a tensor" +
         (read.defined() ? " of shape " + c10::str(read.sizes()) : std::string()) +
         describe_argument(tape, site, paths);
}

Diagnostic finding(Code code, LogLevel level, const ir::SourceLocation& where,
                   const std::string& node, std::string text) {
  return {.code = code,
          .level = level,
          .where = where.to_string(),
          .node = node,
          .text = std::move(text)};
}

Diagnostic warning(Code code, trace::FrameRef where, const std::string& node, std::string text) {
  return finding(code, LogLevel::kWarning, trace::resolve_source(where), node, std::move(text));
}

}  // namespace leapp::state
