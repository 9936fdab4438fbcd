// Reads any bytes as a controller's recording: the result is series or an Error.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "leapp/error.h"
#include "one_policy.h"
#include "scratch_file.h"
#include "view/series.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const leapp::Bundle bundle = one_policy();
  static const ScratchFile file;
  file.write(data, size);
  try {
    leapp::view::recorded_series(file.path(), bundle);
  } catch (const leapp::Error&) {
  }
  return 0;
}
