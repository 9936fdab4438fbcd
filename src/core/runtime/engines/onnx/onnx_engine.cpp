#include "runtime/engines/onnx/onnx_engine.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/log.h"
#include "onnx/admission.h"
#include "onnx/port_check.h"
#include "onnx/reader.h"
#include "runtime/engines/onnx/lent_weights.h"
#include "runtime/engines/onnx/onnx_dtype.h"
#include "runtime/engines/onnx/onnxruntime_library.h"
#include "runtime/engines/onnx/provider.h"

namespace leapp {
namespace {

// The directory in which ONNX Runtime would look for other weights: none.
constexpr const char* kExternalFolder = "session.model_external_initializers_file_folder_path";

// Owns one of ONNX Runtime's objects. Its release functions are members of OrtApi.
template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

template <typename T>
Handle<T> own(T* object, void (*release)(T*)) {
  return Handle<T>(object, release);
}

class OnnxEngine;

class OnnxBinding final : public Binding {
 public:
  OnnxBinding(OnnxEngine& engine, std::span<const ConstTensorView> inputs,
              std::span<const TensorView> outputs);

  void rebind_input(std::size_t index, const ConstTensorView& view) override;
  void rebind_output(std::size_t index, const TensorView& view) override;
  Result<void> run() noexcept override;

 private:
  Handle<OrtValue> value_over(const void* data, DType dtype, const Shape& shape) const;
  Failure failure(OrtStatus* status) const noexcept;

  OnnxEngine& engine_;
  const OrtApi& api_;
  Handle<OrtIoBinding> io_;
};

class OnnxEngine final : public Engine {
 public:
  OnnxEngine(const Model& model, const ModelFile& file, const EngineOptions& options)
      : model_(model),
        ort_(OnnxRuntime::get()),
        keeper_(file.keeper),
        session_(nullptr, ort_.api().ReleaseSession),
        memory_(nullptr, ort_.api().ReleaseMemoryInfo),
        run_options_(nullptr, ort_.api().ReleaseRunOptions) {
    const std::string what = "node '" + model_.name + "'";
    onnx::require_admissible(file.bytes,
                             file.path.empty() ? what : what + ": " + file.path.string());
    std::string head;
    open_session(keeper_ ? use_weights_in_place(file, head) : file, options);
    const std::vector<onnx::ValueInfo> inputs = read_signatures(true);
    check_ports(inputs, model_.inputs, "input");
    check_inputs_declared(inputs);
    check_ports(read_signatures(false), model_.outputs, "output");

    OrtMemoryInfo* memory = nullptr;
    check(ort_.api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
    memory_.reset(memory);
    OrtRunOptions* run_options = nullptr;
    check(ort_.api().CreateRunOptions(&run_options));
    run_options_.reset(run_options);
  }

  std::string description() const override {
    return "ONNX Runtime " + ort_.version() + ", " + provider_;
  }

  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    check_views(model_, inputs, outputs);
    return std::make_unique<OnnxBinding>(*this, inputs, outputs);
  }

  void check(OrtStatus* status, Code code = Code::kBadModel) const {
    ort_.check(status, "node '" + model_.name + "'", code);
  }

  const Model& model() const noexcept { return model_; }
  const OrtApi& api() const noexcept { return ort_.api(); }
  OrtSession* session() const noexcept { return session_.get(); }
  const OrtMemoryInfo* memory_info() const noexcept { return memory_.get(); }
  const OrtRunOptions* run_options() const noexcept { return run_options_.get(); }
  bool on_cpu() const noexcept { return provider_ == kCpuProvider; }

 private:
  void open_session(const ModelFile& file, const EngineOptions& options) {
    try {
      provider_ = choose_provider(options.provider, ort_.providers());
    } catch (const Error& error) {
      throw error.behind("node '" + model_.name + "': ");
    }
    try {
      session_ = create_session(file, options);
    } catch (const Error& error) {
      if (provider_ == kCpuProvider || !options.provider.empty()) throw;
      // The provider is built in, but its driver or libraries are missing, and the caller did not
      // request it.
      warn(Code::kProviderFailed, error.text() + " (" + provider_ + "); using the CPU");
      provider_ = kCpuProvider;
      session_ = create_session(file, options);
    }
  }

  Handle<OrtSession> create_session(const ModelFile& file, const EngineOptions& options) const {
    const OrtApi& api = ort_.api();
    OrtSessionOptions* raw = nullptr;
    check(api.CreateSessionOptions(&raw));
    const Handle<OrtSessionOptions> settings = own(raw, api.ReleaseSessionOptions);
    check(api.SetIntraOpNumThreads(raw, options.threads));
    check(api.SetInterOpNumThreads(raw, 1));
    check(api.SetSessionExecutionMode(raw, ORT_SEQUENTIAL));
    check(api.SetSessionGraphOptimizationLevel(raw, ORT_ENABLE_ALL));
    const char* spinning = options.spinning ? "1" : "0";
    check(api.AddSessionConfigEntry(raw, "session.intra_op.allow_spinning", spinning));
    check(api.AddSessionConfigEntry(raw, "session.inter_op.allow_spinning", spinning));
    if (!options.affinity.empty()) {
      std::string list;  // ONNX Runtime counts processors from 1
      for (int cpu : options.affinity) {
        if (!list.empty()) list += ';';
        list += std::to_string(cpu + 1);
      }
      check(api.AddSessionConfigEntry(raw, "session.intra_op_thread_affinities", list.c_str()));
    }
    if (keeper_) read_in_place(ort_, *raw);
    add_provider(*raw);
    add_external_data(*raw, file);
    OrtSession* session = nullptr;
    ort_.check(
        api.CreateSessionFromArray(ort_.env(), file.bytes.data(), file.bytes.size(), raw, &session),
        "node '" + model_.name + "'" +
            (file.path.empty() ? "" : ": " + file.path.string() + " could not be loaded as ONNX"));
    return own(session, api.ReleaseSession);
  }

  // Passes the files with weights of the model to ONNX Runtime, so that it opens none itself.
  void add_external_data(OrtSessionOptions& settings, const ModelFile& file) const {
    const OrtApi& api = ort_.api();
    check(api.AddSessionConfigEntry(&settings, kExternalFolder, "/dev/null"));
    const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()),
                                file.bytes.size());
    if (text.find("location") == std::string_view::npos) return;  // the name of each such weight
    const std::set<std::string> locations = onnx::external_locations(
        onnx::parse_model(onnx::Bytes::borrowed(file.bytes), file.path.string()));
    std::vector<const char*> names;
    std::vector<char*> buffers;
    std::vector<std::size_t> sizes;
    for (const std::string& location : locations) {
      const std::string name = std::filesystem::path(location).lexically_normal().string();
      const auto listed = std::find_if(file.external_data.begin(), file.external_data.end(),
                                       [&](const auto& each) { return each.first == name; });
      if (listed == file.external_data.end()) {
        throw Error(rule(21), "[B21] node '" + model_.name + "': " + file.path.string() +
                                  " keeps weights in '" + location +
                                  "', which the bundle does not list with a checksum "
                                  "(external_data); export it again, or list it");
      }
      names.push_back(location.c_str());
      buffers.push_back(reinterpret_cast<char*>(const_cast<std::byte*>(listed->second.data())));
      sizes.push_back(listed->second.size());
    }
    if (names.empty()) return;
    check(api.AddExternalInitializersFromFilesInMemory(&settings, names.data(), buffers.data(),
                                                       sizes.data(), names.size()));
  }

  void add_provider(OrtSessionOptions& settings) const {
    const OrtApi& api = ort_.api();
    if (provider_ == kCpuProvider) return;  // always available, as the last resort
    if (provider_ == kCudaProvider) {
      OrtCUDAProviderOptionsV2* raw = nullptr;
      check(api.CreateCUDAProviderOptions(&raw));
      const Handle<OrtCUDAProviderOptionsV2> cuda = own(raw, api.ReleaseCUDAProviderOptions);
      check(api.SessionOptionsAppendExecutionProvider_CUDA_V2(&settings, raw), Code::kNoProvider);
      return;
    }
    // The generic AppendExecutionProvider API expects the name without "ExecutionProvider".
    const std::string suffix = "ExecutionProvider";
    const std::string name = provider_.substr(0, provider_.size() - suffix.size());
    check(api.SessionOptionsAppendExecutionProvider(&settings, name.c_str(), nullptr, nullptr, 0),
          Code::kNoProvider);
  }

  std::vector<onnx::ValueInfo> read_signatures(bool of_inputs) const {
    const OrtApi& api = ort_.api();
    OrtAllocator* allocator = nullptr;
    check(api.GetAllocatorWithDefaultOptions(&allocator));
    std::size_t count = 0;
    check(of_inputs ? api.SessionGetInputCount(session_.get(), &count)
                    : api.SessionGetOutputCount(session_.get(), &count));
    std::vector<onnx::ValueInfo> signatures(count);
    for (std::size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      check(of_inputs ? api.SessionGetInputName(session_.get(), i, allocator, &name)
                      : api.SessionGetOutputName(session_.get(), i, allocator, &name));
      signatures[i].name = name;
      check(api.AllocatorFree(allocator, name));
      OrtTypeInfo* raw = nullptr;
      check(of_inputs ? api.SessionGetInputTypeInfo(session_.get(), i, &raw)
                      : api.SessionGetOutputTypeInfo(session_.get(), i, &raw));
      const Handle<OrtTypeInfo> info = own(raw, api.ReleaseTypeInfo);
      read_tensor_info(*info, signatures[i]);
    }
    return signatures;
  }

  void read_tensor_info(const OrtTypeInfo& info, onnx::ValueInfo& signature) const {
    const OrtApi& api = ort_.api();
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    check(api.CastTypeInfoToTensorInfo(&info, &tensor));
    if (tensor == nullptr) return;  // a sequence or a map, which cannot be a port
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(api.GetTensorElementType(tensor, &type));
    signature.type = static_cast<onnx::ElementType>(type);
    std::size_t rank = 0;
    check(api.GetDimensionsCount(tensor, &rank));
    Shape shape(rank);
    check(api.GetDimensions(tensor, shape.data(), rank));
    signature.shape.emplace();
    for (const std::int64_t size : shape) {  // -1 for a dimension that the model leaves open
      signature.shape->push_back(size < 0 ? onnx::Dimension("") : onnx::Dimension(size));
    }
  }

  void check_ports(const std::vector<onnx::ValueInfo>& found, const std::vector<Port>& declared,
                   const std::string& side) const {
    for (const Port& port : declared) {
      const std::string fault = onnx::find_port_fault(port, found, "its ONNX model");
      if (fault.empty()) continue;
      throw Error(Code::kModelMismatch, side + " " + model_.name + "/" + port.name + " " + fault);
    }
  }

  // An undeclared output is not requested; an undeclared input would stay unset.
  void check_inputs_declared(const std::vector<onnx::ValueInfo>& found) const {
    for (const onnx::ValueInfo& input : found) {
      if (model_.find_input(input.name) != nullptr) continue;
      throw Error(Code::kModelMismatch, "node '" + model_.name +
                                            "': its ONNX model takes an input '" + input.name +
                                            "', which the bundle does not declare");
    }
  }

  Model model_;
  const OnnxRuntime& ort_;
  std::string provider_;
  std::shared_ptr<const void> keeper_;  // weights that the session reads in place
  Handle<OrtSession> session_;
  Handle<OrtMemoryInfo> memory_;
  Handle<OrtRunOptions> run_options_;
};

OnnxBinding::OnnxBinding(OnnxEngine& engine, std::span<const ConstTensorView> inputs,
                         std::span<const TensorView> outputs)
    : engine_(engine), api_(engine.api()), io_(nullptr, api_.ReleaseIoBinding) {
  OrtIoBinding* io = nullptr;
  engine_.check(api_.CreateIoBinding(engine_.session(), &io));
  io_.reset(io);
  for (std::size_t i = 0; i < inputs.size(); ++i) rebind_input(i, inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) rebind_output(i, outputs[i]);
}

void OnnxBinding::rebind_input(std::size_t index, const ConstTensorView& view) {
  const Handle<OrtValue> value = value_over(view.data, view.dtype, view.shape);
  const std::string& name = engine_.model().inputs.at(index).name;
  engine_.check(api_.BindInput(io_.get(), name.c_str(), value.get()));
}

void OnnxBinding::rebind_output(std::size_t index, const TensorView& view) {
  const Handle<OrtValue> value = value_over(view.data, view.dtype, view.shape);
  const std::string& name = engine_.model().outputs.at(index).name;
  engine_.check(api_.BindOutput(io_.get(), name.c_str(), value.get()));
}

Handle<OrtValue> OnnxBinding::value_over(const void* data, DType dtype, const Shape& shape) const {
  static char nothing = 0;  // ONNX Runtime needs an address even for zero elements
  void* address = data != nullptr ? const_cast<void*>(data) : &nothing;
  const std::size_t bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  OrtValue* value = nullptr;
  engine_.check(api_.CreateTensorWithDataAsOrtValue(engine_.memory_info(), address, bytes,
                                                    shape.data(), shape.size(),
                                                    to_onnxruntime(dtype), &value));
  return own(value, api_.ReleaseValue);
}

Result<void> OnnxBinding::run() noexcept {
  if (!engine_.on_cpu()) {
    if (OrtStatus* status = api_.SynchronizeBoundInputs(io_.get())) return failure(status);
  }
  if (OrtStatus* status =
          api_.RunWithBinding(engine_.session(), engine_.run_options(), io_.get())) {
    return failure(status);
  }
  if (!engine_.on_cpu()) {
    if (OrtStatus* status = api_.SynchronizeBoundOutputs(io_.get())) return failure(status);
  }
  return {};
}

Failure OnnxBinding::failure(OrtStatus* status) const noexcept {
  const Failure result(Code::kTickFailed, {"node '", engine_.model().name,
                                           "' failed: ", api_.GetErrorMessage(status)});
  api_.ReleaseStatus(status);
  return result;
}

}  // namespace

std::unique_ptr<Engine> load_onnx_engine(const Model& model, const ModelFile& file,
                                         const EngineOptions& options) {
  return std::make_unique<OnnxEngine>(model, file, options);
}

void preload_onnxruntime() {
  OnnxRuntime::get();
}

}  // namespace leapp
