// The cost of a tick from C++, compared with ONNX Runtime on the same models.
//
//   bench_tick bundle.yaml [--ticks N]
//
// prints one JSON object with the latencies in microseconds of
//   raw             one ONNX Runtime session per node, bound once to shared buffers
//   separate        LEAPP, merge off
//   merged_raw      ONNX Runtime on the merged graph alone
//   merged          LEAPP
// and of loading the bundle. The variants alternate in short rounds, so other load on the machine
// affects all of them equally. Without --ticks, 20,000 ticks each. Bundles with TorchScript nodes
// have no raw contestants. `overhead_ns_per_node` is a tick of 1,000 nodes whose engine does
// nothing.
#include <dlfcn.h>
#include <onnxruntime_c_api.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "leapp/inference_manager.h"
#include "leapp/tools/merge.h"

namespace {

using Clock = std::chrono::steady_clock;

// ONNX Runtime used directly, as a careful user would without LEAPP.
class RawSessions {
 public:
  explicit RawSessions(const leapp::Bundle& bundle) {
    open_library();
    for (std::size_t index : leapp::execution_order(bundle)) {
      const leapp::Model& model = bundle.models[index];
      OrtSession* session = open_session(bundle.file.parent_path() / model.file->path);
      OrtIoBinding* binding = nullptr;
      check(api_->CreateIoBinding(session, &binding));
      for (const leapp::Port& port : model.inputs) {
        leapp::Tensor& buffer = input_buffer(bundle, model.name, port);
        check(api_->BindInput(binding, port.name.c_str(), value_over(buffer)));
      }
      for (const leapp::Port& port : model.outputs) {
        leapp::Tensor& buffer = this->buffer(model.name + "/" + port.name, port);
        check(api_->BindOutput(binding, port.name.c_str(), value_over(buffer)));
      }
      steps_.emplace_back(session, binding);
    }
    for (const leapp::Wire& wire : bundle.pipeline.feedback_flow) {
      for (const leapp::PortRef& target : wire.targets) {
        copies_.emplace_back(buffers_.at(leapp::to_string(wire.source)).get(),
                             buffers_.at("<" + leapp::to_string(target)).get());
      }
    }
  }

  void set_input(const std::string& name, const leapp::Tensor& value) {
    std::memcpy(buffers_.at("<" + name)->data(), value.data(), value.byte_size());
  }

  void tick() {
    for (const auto& [session, binding] : steps_) {
      check(api_->RunWithBinding(session, nullptr, binding));
    }
    for (const auto& [from, to] : copies_) std::memcpy(to->data(), from->data(), to->byte_size());
  }

 private:
  void open_library() {
    const char* path = std::getenv("LEAPP_ONNXRUNTIME");
    void* library = dlopen(path != nullptr ? path : "libonnxruntime.so", RTLD_NOW);
    if (library == nullptr) {
      std::fprintf(stderr, "set LEAPP_ONNXRUNTIME to libonnxruntime.so: %s\n", dlerror());
      std::exit(2);
    }
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
    api_ = base()->GetApi(16);
    check(api_->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "raw", &env_));
    check(api_->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory_));
  }

  OrtSession* open_session(const std::filesystem::path& file) {
    OrtSessionOptions* options = nullptr;
    check(api_->CreateSessionOptions(&options));
    check(api_->SetIntraOpNumThreads(options, 1));
    check(api_->SetInterOpNumThreads(options, 1));
    check(api_->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
    OrtSession* session = nullptr;
    check(api_->CreateSession(env_, file.c_str(), options, &session));
    api_->ReleaseSessionOptions(options);
    return session;
  }

  leapp::Tensor& buffer(const std::string& name, const leapp::Port& port) {
    auto& buffer = buffers_[name];
    if (!buffer) buffer = std::make_unique<leapp::Tensor>(port.dtype, port.shape);
    return *buffer;
  }

  // Returns an input's own buffer ("<node/port"), or that of the output that feeds it.
  leapp::Tensor& input_buffer(const leapp::Bundle& bundle, const std::string& node,
                              const leapp::Port& port) {
    for (const leapp::Wire& wire : bundle.pipeline.data_flow) {
      for (const leapp::PortRef& target : wire.targets) {
        if (target.node == node && target.port == port.name) {
          return buffer(leapp::to_string(wire.source), port);
        }
      }
    }
    return buffer("<" + node + "/" + port.name, port);
  }

  OrtValue* value_over(leapp::Tensor& tensor) {
    if (tensor.dtype() != leapp::DType::kFloat32) {
      std::fprintf(stderr, "this benchmark supports float32 only\n");
      std::exit(2);
    }
    OrtValue* value = nullptr;
    check(api_->CreateTensorWithDataAsOrtValue(memory_, tensor.data(), tensor.byte_size(),
                                               tensor.shape().data(), tensor.shape().size(),
                                               ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    return value;
  }

  void check(OrtStatus* status) const {
    if (status == nullptr) return;
    std::fprintf(stderr, "%s\n", api_->GetErrorMessage(status));
    std::exit(1);
  }

  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
  std::unordered_map<std::string, std::unique_ptr<leapp::Tensor>> buffers_;
  std::vector<std::pair<OrtSession*, OrtIoBinding*>> steps_;
  std::vector<std::pair<leapp::Tensor*, leapp::Tensor*>> copies_;
};

struct Contestant {
  std::string name;
  std::function<void()> tick;
  std::vector<double> samples = {};  // microseconds
};

void race(std::vector<Contestant>& contestants, int ticks) {
  constexpr int kRound = 100;
  for (Contestant& contestant : contestants) {
    for (int i = 0; i < 200; ++i) contestant.tick();
  }
  for (int done = 0; done < ticks; done += kRound) {
    for (Contestant& contestant : contestants) {
      for (int i = 0; i < kRound; ++i) {
        const auto start = Clock::now();
        contestant.tick();
        const std::chrono::duration<double, std::micro> took = Clock::now() - start;
        contestant.samples.push_back(took.count());
      }
    }
  }
}

void print(Contestant& contestant) {
  std::vector<double>& samples = contestant.samples;
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
  };
  std::printf(
      " \"%s\": {\"p50_us\": %.3f, \"p99_us\": %.3f, \"p999_us\": %.3f, \"max_us\": %.3f},\n",
      contestant.name.c_str(), at(0.5), at(0.99), at(0.999), samples.back());
}

// LEAPP on a bundle, its inputs set once.
std::function<void()> ticker(const std::shared_ptr<leapp::InferenceManager>& manager) {
  const leapp::TensorMap mock = manager->get_mock_input();
  for (const auto& [name, value] : mock) {
    manager->set_input(manager->input_port(name), value).value();
  }
  return [manager] {
    if (leapp::Result<void> done = manager->tick(); !done) {
      std::fprintf(stderr, "%s\n", std::string(done.failure().message()).c_str());
      std::exit(1);
    }
  };
}

std::function<void()> ticker(const std::shared_ptr<RawSessions>& sessions,
                             const leapp::TensorMap& inputs) {
  for (const auto& [name, value] : inputs) sessions->set_input(name, value);
  return [sessions] { sessions->tick(); };
}

// An engine that takes no time: the rest of a tick is LEAPP's own time.
class NoEngine final : public leapp::Engine {
  class Run final : public leapp::Binding {
    void rebind_input(std::size_t, const leapp::ConstTensorView&) override {}
    void rebind_output(std::size_t, const leapp::TensorView&) override {}
    leapp::Result<void> run() noexcept override { return {}; }
  };
  std::string description() const override { return "nothing"; }
  std::unique_ptr<leapp::Binding> bind(std::span<const leapp::ConstTensorView>,
                                       std::span<const leapp::TensorView>) override {
    return std::make_unique<Run>();
  }
};

// Returns a chain of nodes, each with its own state.
double overhead_ns_per_node(const leapp::Bundle& any, const std::filesystem::path& folder) {
  constexpr int kNodes = 1000;
  leapp::Bundle bundle;
  bundle.system_information = any.system_information;
  const leapp::Port port{.name = "x", .dtype = leapp::DType::kFloat32, .shape = {1, 16}};
  const auto named = [&](const char* name) {
    leapp::Port copy = port;
    copy.name = name;
    return copy;
  };
  for (int i = 0; i < kNodes; ++i) {
    leapp::Model& model = bundle.models.emplace_back();
    model.name = "n" + std::to_string(i);
    model.inputs = {named("x"), named("h_in")};
    model.outputs = {named("y"), named("h_out")};
    model.backend = "onnx";
    model.file = any.models[0].file;
    bundle.pipeline.feedback_flow.push_back({{model.name, "h_out"}, {{model.name, "h_in"}}});
    if (i > 0) {
      bundle.pipeline.data_flow.push_back(
          {{bundle.models[static_cast<std::size_t>(i) - 1].name, "y"}, {{model.name, "x"}}});
    }
  }
  bundle.pipeline.inputs = {{"n0", {"x"}}};
  bundle.pipeline.outputs = {{bundle.models.back().name, {"y"}}};
  std::filesystem::copy_file(any.file.parent_path() / any.models[0].file->path,
                             folder / any.models[0].file->path);
  std::ofstream(folder / "overhead.yaml") << leapp::to_yaml(bundle);
  leapp::RuntimeOptions options;
  options.engines.add("onnx",
                      [](const leapp::Model&, const leapp::ModelFile&,
                         const leapp::EngineOptions&) -> std::unique_ptr<leapp::Engine> {
                        return std::make_unique<NoEngine>();
                      });
  std::vector<Contestant> one = {{"overhead", ticker(std::make_shared<leapp::InferenceManager>(
                                                  folder / "overhead.yaml", options))}};
  race(one, 2000);
  std::vector<double>& samples = one[0].samples;
  std::nth_element(samples.begin(), samples.begin() + 1000, samples.end());
  return samples[1000] * 1e3 / kNodes;
}

double load_ms(const std::filesystem::path& yaml, const leapp::RuntimeOptions& options) {
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    const leapp::InferenceManager manager(yaml, options);
    samples.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(samples.begin(), samples.end());
  return samples[2];
}

int run(const std::filesystem::path& yaml, int ticks) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("leapp_bench_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const leapp::Bundle bundle = leapp::read_bundle(yaml);
  const bool onnx = std::all_of(bundle.models.begin(), bundle.models.end(),
                                [](const leapp::Model& model) { return model.backend == "onnx"; });
  leapp::RuntimeOptions off;
  off.merge = leapp::Merge::kOff;
  const auto merged = std::make_shared<leapp::InferenceManager>(yaml);
  const leapp::TensorMap inputs = merged->get_mock_input();
  std::vector<Contestant> contestants;
  if (onnx) {
    contestants.push_back({"raw", ticker(std::make_shared<RawSessions>(bundle), inputs)});
  }
  contestants.push_back({"separate", ticker(std::make_shared<leapp::InferenceManager>(yaml, off))});
  if (!onnx && bundle.models.size() > 1) contestants.push_back({"merged", ticker(merged)});
  if (onnx && bundle.models.size() > 1) {
    const leapp::Bundle one = leapp::merge_bundle(yaml, folder / "one");
    leapp::TensorMap renamed;
    for (const auto& [name, value] : inputs) {
      const leapp::PortRef ref = *leapp::parse_port_ref(name);
      renamed.emplace("one/" + ref.node + "." + ref.port, value);
    }
    contestants.push_back({"merged_raw", ticker(std::make_shared<RawSessions>(one), renamed)});
    contestants.push_back({"merged", ticker(merged)});
  }
  race(contestants, ticks);
  std::printf("{\"bundle\": \"%s\", \"nodes\": %zu,\n", yaml.c_str(), bundle.models.size());
  for (Contestant& contestant : contestants) print(contestant);
  std::printf(" \"load_ms\": %.2f, \"load_separate_ms\": %.2f,\n", load_ms(yaml, {}),
              load_ms(yaml, off));
  std::printf(" \"overhead_ns_per_node\": %.1f}\n", overhead_ns_per_node(bundle, folder));
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && !(argc == 4 && std::string(argv[2]) == "--ticks")) {
    std::fprintf(stderr, "usage: bench_tick bundle.yaml [--ticks N]\n");
    return 2;
  }
  try {
    return run(argv[1], argc == 4 ? std::atoi(argv[3]) : 20000);
  } catch (const leapp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
