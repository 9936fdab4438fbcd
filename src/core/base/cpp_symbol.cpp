#include "base/cpp_symbol.h"

#include "base/hash.h"

namespace leapp {
namespace {

// Leaves room for suffixes within the 255 bytes that file systems allow for a file name.
constexpr std::size_t kLongest = 160;

}  // namespace

std::string cpp_symbol(const std::string& node) {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string symbol = "leapp_cpp_";
  for (const char c : node) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      symbol += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    symbol += {'_', kDigits[byte / 16], kDigits[byte % 16]};
  }
  if (symbol.size() <= kLongest) return symbol;
  // No short symbol contains "_h": there, two hexadecimal digits follow an underscore.
  const std::string hash = hash_bytes(node).sha256.substr(0, 32);
  return symbol.substr(0, kLongest - hash.size() - 2) + "_h" + hash;
}

}  // namespace leapp
