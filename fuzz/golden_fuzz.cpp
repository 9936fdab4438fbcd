// Reads any bytes as golden traces of a bundle: the result is traces or an Error. Traces have every
// input of every tick, and every byte of them can be read.
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "bundle/golden_traces.h"
#include "leapp/error.h"
#include "one_policy.h"
#include "scratch_file.h"

namespace {

unsigned sum_of(const leapp::ConstTensorView* tensor) {
  if (tensor == nullptr) return 0;
  const auto* const begin = static_cast<const std::uint8_t*>(tensor->data);
  return std::accumulate(begin, begin + tensor->byte_size(), 0U);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const leapp::Bundle bundle = one_policy();
  static const ScratchFile file;
  file.write(data, size);
  unsigned sum = 0;
  try {
    const leapp::GoldenTraces traces(bundle, leapp::FileBytes(file.path()));
    for (std::size_t tick = 0; tick < traces.ticks(); ++tick) {
      if (traces.input(tick, {"policy", "obs"}) == nullptr) std::abort();
      sum += sum_of(traces.input(tick, {"policy", "obs"}));
      sum += sum_of(traces.output(tick, {"policy", "next"}));
    }
    if (!(traces.tolerance({"policy", "action"}).atol >= 0)) std::abort();
  } catch (const leapp::Error&) {
    return 0;
  }
  return sum == 0xFFFFFFFF ? 1 : 0;
}
