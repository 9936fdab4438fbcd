#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "commands.h"
#include "leapp/code.h"
#include "leapp/error.h"
#include "reference.h"

namespace leapp::cli {
namespace {

// Returns "LP301" for "lp301", "[LP301]" and "301", and "B7" for "b7".
std::string normalized(std::string_view code) {
  std::string text;
  for (const char c : code) {
    if (c == '[' || c == ']') continue;
    text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  const bool is_number = text.size() == 3 && text.find_first_not_of("0123456789") == text.npos;
  return is_number ? "LP" + text : text;
}

// Returns the lines from `begin` up to the first one that starts with one of `ends`.
std::string_view until(std::string_view text, std::size_t begin,
                       std::initializer_list<std::string_view> ends) {
  std::size_t end = text.size();
  for (const std::string_view each : ends) {
    end = std::min(end, text.find("\n" + std::string(each), begin + 1));
  }
  return text.substr(begin, end - begin);
}

std::string_view section_of(std::string_view code) {
  const std::string heading = "\n## " + std::string(code) + " ";
  if (const auto at = kDiagnostics.find(heading); at != kDiagnostics.npos) {
    return until(kDiagnostics, at + 1, {"## "});
  }
  const std::string rule = "\n- **" + std::string(code) + "** ";
  if (const auto at = kFormat.find(rule); at != kFormat.npos) {
    return until(kFormat, at + 1, {"- **", "#", "\n"});
  }
  return {};
}

// Returns Markdown without link targets: "[text](target)" becomes "text".
std::string without_links(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t middle = text.find("](");
    const std::size_t end = middle == text.npos ? text.npos : text.find(')', middle);
    if (end == text.npos) break;
    const std::size_t begin = text.rfind('[', middle);
    if (begin == text.npos) {
      plain += text.substr(0, end + 1);
    } else {
      plain += text.substr(0, begin);
      plain += text.substr(begin + 1, middle - begin - 1);
    }
    text.remove_prefix(end + 1);
  }
  plain += text;
  while (!plain.empty() && plain.back() == '\n') plain.pop_back();
  return plain;
}

int explain(const std::string& given) {
  const std::string code = normalized(given);
  const std::string_view section = section_of(code);
  if (section.empty()) {
    throw Error(Code::kCommandLine,
                "no diagnostic or rule has that code. Diagnostics have codes such as LP301, rules "
                "of the bundle format codes such as B7");
  }
  std::string text = without_links(section);
  if (text.starts_with("## ")) {
    text.erase(0, 3);
    const std::size_t line = text.find('\n');
    if (isatty(STDOUT_FILENO) == 1) text = "\033[1m" + text.insert(line, "\033[0m");
  } else {
    text = code + text.substr(6 + code.size());  // "- **B7** A port MUST .."
  }
  std::printf("%s\n", text.c_str());
  return kDone;
}

}  // namespace

Command add_explain(CLI::App& program) {
  const auto code = std::make_shared<std::string>();
  CLI::App* app =
      program.add_subcommand("explain", "explain an error or warning by its code, offline");
  app->add_option("code", *code, "the code at the end of a message: LP301, or B7")->required();
  app->footer("Example: leapp explain LP301");
  return {app, [code] { return explain(*code); }};
}

}  // namespace leapp::cli
