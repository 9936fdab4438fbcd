// Reads any bytes as a bundle: the result is a bundle or an Error. A bundle must be the same after
// writing and reading it again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "leapp/bundle.h"
#include "leapp/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  leapp::Bundle bundle;
  try {
    bundle = leapp::parse_bundle(text, "fuzz.yaml");
  } catch (const leapp::Error&) {
    return 0;
  }
  const std::string yaml = leapp::to_yaml(bundle);
  if (leapp::to_yaml(leapp::parse_bundle(yaml, "again.yaml")) != yaml) std::abort();
  leapp::execution_order(bundle);
  return 0;
}
