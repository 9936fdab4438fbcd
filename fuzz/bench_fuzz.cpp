// Reads any bytes as a report of `leapp bench`: the result is a report that a page can contain, or
// an Error.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "leapp/error.h"
#include "scratch_file.h"
#include "view/reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ScratchFile file;
  file.write(data, size);
  try {
    leapp::view::bench_report(file.path()).dump();
  } catch (const leapp::Error&) {
  }
  return 0;
}
