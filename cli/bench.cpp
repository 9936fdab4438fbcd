#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bench_report.h"
#include "commands.h"

namespace leapp::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchArguments {
  std::string yaml;
  bool json = false;
  int ticks = 10000;
  int warm_up = 100;
  double hz = 0;
  std::string svg;
  std::string perfetto;
  bool strict = false;
  EngineFlags engine;
};

std::optional<double> frequency_of(const Bundle& bundle) {
  for (const auto& [key, value] : bundle.pipeline.configs) {
    if (key != "frequency") continue;
    if (const auto* number = std::get_if<double>(&value.value)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&value.value)) {
      return static_cast<double>(*number);
    }
  }
  return std::nullopt;
}

// The period of the bundle, so that the timeline shows which ticks exceeded it.
std::optional<std::chrono::nanoseconds> deadline_of(const BenchArguments& arguments) {
  BenchReport report;
  report.frequency =
      arguments.hz > 0
          ? std::optional(arguments.hz)
          : frequency_of(read_bundle(arguments.yaml, arguments.engine.options().bundle));
  return report.period();
}

BenchReport measure(const BenchArguments& arguments) {
  RuntimeOptions options = arguments.engine.options();
  options.measure = true;
  if (!arguments.perfetto.empty()) options.deadline = deadline_of(arguments);
  const auto start = Clock::now();
  InferenceManager manager(arguments.yaml, options);
  BenchReport report;
  report.load = Clock::now() - start;
  report.bundle = arguments.yaml;
  report.steps = manager.description();
  report.frequency =
      arguments.hz > 0 ? std::optional(arguments.hz) : frequency_of(manager.bundle());
  if (arguments.strict && !report.period()) {
    throw Error(Code::kCommandLine,
                "options: --strict has no period to compare with: " + arguments.yaml +
                    " states no frequency (pipeline.configs.frequency); give one with --hz");
  }
  for (const auto& [name, value] : manager.get_mock_input()) {
    manager.set_input(manager.input_port(name), value).value();
  }
  for (int i = 0; i < arguments.warm_up; ++i) manager.tick().value();
  manager.reset_statistics();
  if (!arguments.perfetto.empty()) manager.trace_to(arguments.perfetto);
  report.ticks.reserve(static_cast<std::size_t>(arguments.ticks));
  for (int i = 0; i < arguments.ticks; ++i) {
    const auto began = Clock::now();
    manager.tick().value();
    report.ticks.push_back(Clock::now() - began);
  }
  report.statistics = manager.statistics();
  std::sort(report.ticks.begin(), report.ticks.end());
  return report;
}

int run_bench(const BenchArguments& arguments) {
  const BenchReport report = measure(arguments);
  if (!arguments.svg.empty()) {
    std::ofstream stream(arguments.svg, std::ios::binary);
    stream << to_svg(report);
    stream.close();
    if (!stream) throw Error(Code::kIo, "could not write " + arguments.svg);
  }
  std::printf("%s\n", (arguments.json ? to_json(report) : to_text(report)).c_str());
  return arguments.strict && report.misses() > 0 ? kTooSlow : kDone;
}

}  // namespace

Command add_bench(CLI::App& program) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App* app = program.add_subcommand(
      "bench", "measure ticks on mock input against the pipeline's frequency");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  app->add_option("--ticks", arguments->ticks, "how many")
      ->capture_default_str()
      ->check(CLI::Range(1, kMaxTicks));
  app->add_option("--warm-up", arguments->warm_up, "warm-up ticks, which are not measured")
      ->capture_default_str()
      ->check(CLI::Range(0, kMaxTicks));
  app->add_option("--hz", arguments->hz, "ticks per second, instead of the bundle's frequency")
      ->check([](const std::string& text) {
        const double hz = std::strtod(text.c_str(), nullptr);
        return hz >= 1e-9 && hz <= 1e9 ? "" : "must be a frequency from 1e-9 to 1e9, not " + text;
      });
  app->add_option("--svg", arguments->svg, "also write a picture");
  app->add_option("--perfetto", arguments->perfetto,
                  "also write a timeline of the ticks, for ui.perfetto.dev");
  app->add_flag("--strict", arguments->strict,
                "exit with 4 if a tick takes longer than the period");
  arguments->engine.add_to(*app);
  arguments->engine.add_no_merge_to(*app);
  app->footer("Example: leapp bench walker/walker.yaml --svg bench.svg");
  return {app, [arguments] { return run_bench(*arguments); }};
}

}  // namespace leapp::cli
