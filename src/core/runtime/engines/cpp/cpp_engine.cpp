#include "runtime/engines/cpp/cpp_engine.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.h"
#include "base/cpp_symbol.h"
#include "leapp/cpp_model.h"

namespace leapp {
namespace {

// Memory with the alignment that a model requires.
class AlignedMemory {
 public:
  AlignedMemory(std::size_t bytes, std::size_t alignment)
      : alignment_(std::align_val_t(alignment)),
        data_(::operator new(bytes == 0 ? 1 : bytes, alignment_)) {}
  ~AlignedMemory() { ::operator delete(data_, alignment_); }
  AlignedMemory(const AlignedMemory&) = delete;
  AlignedMemory& operator=(const AlignedMemory&) = delete;

  void* data() const noexcept { return data_; }

 private:
  std::align_val_t alignment_;
  void* data_;
};

class CppBinding : public Binding {
 public:
  CppBinding(const leapp_cpp_model& table, const Model& model, void* memory,
             std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs)
      : table_(table), node_(model.name), memory_(memory) {
    for (const ConstTensorView& view : inputs) inputs_.push_back(view.data);
    for (const TensorView& view : outputs) outputs_.push_back(view.data);
  }

  void rebind_input(std::size_t index, const ConstTensorView& view) override {
    inputs_.at(index) = view.data;
  }
  void rebind_output(std::size_t index, const TensorView& view) override {
    outputs_.at(index) = view.data;
  }

  Result<void> run() noexcept override {
    const std::int32_t status = table_.run(inputs_.data(), outputs_.data(), memory_);
    if (status == 0) return {};
    const auto index = static_cast<std::size_t>(status) - 1;
    const char* what = index < table_.error_count ? table_.errors[index] : "it failed";
    return Failure(Code::kTickFailed, {"node '", node_, "': ", what});
  }

 private:
  const leapp_cpp_model& table_;
  std::string node_;
  void* memory_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

class CppEngine : public Engine {
 public:
  CppEngine(const Model& model, const leapp_cpp_model& table, std::span<const std::byte> weights)
      : model_(model),
        table_(table),
        weights_(weights.size(), table.alignment),
        memory_(table.memory_bytes, table.alignment) {
    std::memcpy(weights_.data(), weights.data(), weights.size());
    table.prepare(weights_.data(), memory_.data());
  }

  std::string description() const override { return "C++, compiled, CPU"; }

  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    check_views(model_, inputs, outputs);
    return std::make_unique<CppBinding>(table_, model_, memory_.data(), inputs, outputs);
  }

 private:
  Model model_;
  const leapp_cpp_model& table_;
  AlignedMemory weights_;
  AlignedMemory memory_;
};

void check_table_side(const std::string& node, const char* side, const std::vector<Port>& ports,
                      const leapp_cpp_port* found, std::size_t count) {
  require(ports.size() == count, Code::kModelMismatch,
          "node '" + node + "': the compiled model has " + std::to_string(count) + " " + side +
              "s, and the bundle says " + std::to_string(ports.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const Shape shape(found[i].dims, found[i].dims + found[i].rank);
    const bool same = ports[i].name == found[i].name && name_of(ports[i].dtype) == found[i].dtype &&
                      ports[i].shape == shape;
    require(same, Code::kModelMismatch,
            "node '" + node + "': " + side + " " + std::to_string(i) +
                " of the compiled model is '" + found[i].name + "', " + found[i].dtype + " " +
                to_string(shape) + "; the bundle says '" + ports[i].name + "', " +
                std::string(name_of(ports[i].dtype)) + " " + to_string(ports[i].shape));
  }
}

void check_table(const Model& model, const leapp_cpp_model& table, std::size_t weight_bytes) {
  require(table.abi == LEAPP_CPP_ABI, Code::kModelMismatch,
          "node '" + model.name + "': the compiled model is of ABI " + std::to_string(table.abi) +
              ", but this library has ABI " + std::to_string(LEAPP_CPP_ABI) +
              "; export the node again");
  require(model.name == table.node, Code::kModelMismatch,
          "node '" + model.name + "': the compiled model belongs to node '" + table.node + "'");
  check_table_side(model.name, "input", model.inputs, table.inputs, table.input_count);
  check_table_side(model.name, "output", model.outputs, table.outputs, table.output_count);
  require(table.weight_bytes == weight_bytes, Code::kModelMismatch,
          "node '" + model.name + "': the compiled model takes " +
              std::to_string(table.weight_bytes) + " bytes of weights, but the bundle has " +
              std::to_string(weight_bytes));
}

}  // namespace

std::unique_ptr<Engine> load_cpp_library(const Model& model, const std::filesystem::path& library,
                                         std::span<const std::byte> weights) {
  // Never closed: engines may outlive the code that loaded them, and the library is small.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  require(handle != nullptr, Code::kBadModel,
          "node '" + model.name + "': " + library.string() + " could not be opened");
  const std::string symbol = cpp_symbol(model.name);
  void* function = dlsym(handle, symbol.c_str());
  require(function != nullptr, Code::kModelMismatch,
          "node '" + model.name + "': " + library.string() + " has no '" + symbol + "'");
  const leapp_cpp_model* table = reinterpret_cast<const leapp_cpp_model* (*)()>(function)();
  check_table(model, *table, weights.size());
  return std::make_unique<CppEngine>(model, *table, weights);
}

}  // namespace leapp
