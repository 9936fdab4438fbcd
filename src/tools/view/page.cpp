// Assembles the page from the files of src/tools/view/page, which are embedded as text.
#include <array>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "leapp/tools/diff.h"
#include "leapp/tools/view.h"
#include "view/assets.h"
#include "view/description.h"

namespace leapp {
namespace {

// Returns the base64 of a script's SHA256, as in a content security policy.
std::string script_hash(std::string_view script) {
  Digest digest(Digest::Kind::kSha256);
  digest.update(script);
  const std::string hex = digest.finish();
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < hex.size(); at += 6) {  // three bytes are four letters
    const std::string part = hex.substr(at, 6);
    const unsigned long bits = std::stoul(part, nullptr, 16) << (4 * (6 - part.size()));
    const std::size_t letters = part.size() == 6 ? 4 : part.size() / 2 + 1;
    for (std::size_t i = 0; i < 4; ++i) {
      text += i < letters ? kLetters[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

void replace(std::string& text, std::string_view placeholder, std::string_view value) {
  const std::size_t at = text.find(placeholder);
  text.replace(at, placeholder.size(), value);
}

// In ASCII, and without the character that could end a script, so that the content of a bundle is
// only data of the page.
std::string inline_json(const nlohmann::ordered_json& json) {
  std::string text = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

std::string make_page(const nlohmann::ordered_json& data) {
  std::string page(view::kPageHtml);
  replace(page, "{{hash}}", script_hash(view::kPageScript));
  replace(page, "{{style}}", view::kPageStyle);
  replace(page, "{{script}}", view::kPageScript);
  replace(page, "{{data}}", inline_json(data));
  return page;
}

}  // namespace

std::string view_page(const std::filesystem::path& yaml, const ViewOptions& options) {
  return make_page(view::describe(read_bundle(yaml, options.bundle), options));
}

std::string diff_page(const std::filesystem::path& before, const std::filesystem::path& after,
                      const ViewOptions& options) {
  const BundleDiff found = diff(before, after, options.bundle);
  nlohmann::ordered_json data = view::describe(read_bundle(after, options.bundle), options);
  data["diff"] = nlohmann::ordered_json::parse(to_json(found));
  data["diff"]["before"] = before.filename().string();
  return make_page(data);
}

}  // namespace leapp
