// One policy as two bundles, ticks alternating: C++ nodes and ONNX Runtime.
//
//   bench_cpp onnx.yaml cpp.yaml [--ticks N]
//
// prints one JSON object with the latencies in microseconds of both. Run `leapp build cpp.yaml`
// first. The two alternate in short rounds, so other load on the machine affects both equally.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "leapp/inference_manager.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Contestant {
  Contestant(const char* name_given, const char* yaml)
      : name(name_given), manager(yaml, {.bundle = {.allow_native = true}}) {
    for (const auto& [port, value] : manager.get_mock_input()) {
      const leapp::InputPort input = manager.input_port(port);
      manager.set_input(input, value).value();
    }
    manager.prepare(50);
  }

  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) {
      const auto begin = Clock::now();
      manager.tick().value();
      took.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
  }

  double percentile(double share) {
    std::sort(took.begin(), took.end());
    return took[static_cast<std::size_t>(share * static_cast<double>(took.size() - 1))];
  }

  const char* name;
  leapp::InferenceManager manager;
  std::vector<double> took = {};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "bench_cpp onnx.yaml cpp.yaml [--ticks N]\n");
    return 2;
  }
  const int ticks = argc > 4 ? std::atoi(argv[4]) : 20000;
  constexpr int kRound = 100;
  Contestant onnx("onnx", argv[1]);
  Contestant cpp("cpp", argv[2]);
  for (int done = 0; done < ticks; done += kRound) {
    onnx.run(kRound);
    cpp.run(kRound);
  }
  std::printf("{");
  for (Contestant* each : {&onnx, &cpp}) {
    std::printf("\"%s\": {\"min_us\": %.3f, \"p50_us\": %.3f, \"p999_us\": %.3f}%s", each->name,
                each->percentile(0), each->percentile(0.5), each->percentile(0.999),
                each == &onnx ? ",\n " : "}\n");
  }
}
