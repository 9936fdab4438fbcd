#include "base/cpp_symbol.h"

namespace leapp {

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
  return symbol;
}

}  // namespace leapp
