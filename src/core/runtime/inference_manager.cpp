#include "leapp/inference_manager.h"

#include <algorithm>

#include "base/check.h"
#include "base/join.h"
#include "base/port_suffix.h"
#include "runtime/golden_replay.h"
#include "runtime/inner_values.h"
#include "runtime/loader.h"
#include "runtime/mock_input.h"
#include "runtime/port_names.h"
#include "runtime/session.h"

namespace leapp {
namespace {

constexpr const char* kMovedFrom =
    "this InferenceManager was moved from; use the one that it was moved to";
const std::vector<std::string> kNoNames;
Result<void> moved_from() noexcept {
  return Failure(Code::kUsage, kMovedFrom);
}

}  // namespace

class InferenceManager::Impl {
 public:
  Impl(const std::filesystem::path& yaml, RuntimeOptions options)
      : options_(std::move(options)),
        loaded_(load_bundle(yaml, options_)),
        session_(loaded_.plan, loaded_.engines, options_, loaded_.cannot_run),
        names_(loaded_.bundle, loaded_.plan),
        inner_values_(loaded_, options_, session_, names_) {
    const std::vector<std::string>& all = plan().external_inputs;
    const auto noise = all.end() - static_cast<std::ptrdiff_t>(plan().noise.size());
    inputs_.assign(all.begin(), noise);
    noise_inputs_.assign(noise, all.end());
    reset();
  }

  const Bundle& bundle() const noexcept { return loaded_.bundle; }
  const Plan& plan() const noexcept { return loaded_.plan; }
  const std::vector<std::string>& inputs() const noexcept { return inputs_; }
  const std::vector<std::string>& noise_inputs() const noexcept { return noise_inputs_; }
  const PortNames& names() const noexcept { return names_; }
  Session& session() noexcept { return session_; }
  const Session& session() const noexcept { return session_; }

  // One call, from beginning to end. Throws if another call is in progress.
  template <typename Call>
  auto exclusively(const Call& call) {
    const Session::Use use(session_);
    use.required();
    return call(*this);
  }

  // The same for calls of a tick.
  template <typename Call>
  Result<void> held(const Call& call) noexcept {
    const Session::Use use(session_);
    if (!use) return Session::two_threads();
    return call(session_);
  }

  std::vector<std::string> description() const { return describe(loaded_); }

  Verification verify() const { return verify_golden(loaded_, options_); }

  TensorMap run_policy(const TensorMap& inputs) {
    session_.clear_inputs();
    for (const auto& [name, value] : inputs) {
      const std::size_t index = names_.input(name);
      check_external(index, value.view());
      session_.set_input(index, value).value();
    }
    session_.tick().value();
    TensorMap outputs;
    for (std::size_t i = 0; i < plan().external_outputs.size(); ++i) {
      outputs.emplace(plan().external_outputs[i], session_.read(session_.output(i)));
    }
    return outputs;
  }

  TensorMap get_mock_input(std::uint32_t seed) const {
    std::mt19937 random(seed);
    TensorMap inputs;
    for (const std::string& name : inputs_) {
      inputs.emplace(name, mock_value(*bundle().find_input(*parse_port_ref(name)), random));
    }
    return inputs;
  }

  void set_input_value(std::string_view node, std::string_view input,
                       const ConstTensorView& value) {
    const std::string name = to_string(PortRef{std::string(node), std::string(input)});
    if (const auto external = names_.find_input(name)) {
      check_external(*external, value);
      inner_values_.keep_inputs();
      session_.set_input(*external, value).value();
      session_.hold(*external);
      return;
    }
    const Access* access = find_port(plan().inputs, name, kInputSuffix);
    if (access == nullptr || !names_.is_feedback(name)) names_.refuse_to_set(node, input);
    check_fit(name, session_.now(*access), value);
    session_.store(session_.now(*access), value.data).value();
  }

  Tensor value(std::string_view node, std::string_view port) const {
    const Port& found = names_.port(node, port);
    const std::string name = to_string(PortRef{std::string(node), found.name});
    if (const auto in = plan().inputs.find(name); in != plan().inputs.end()) {
      return session_.read(session_.now(in->second));
    }
    if (const auto out = plan().outputs.find(name); out != plan().outputs.end()) {
      return session_.read(session_.now(out->second));
    }
    if (session_.ticks() == 0) return Tensor(found.dtype, found.shape);
    return inner_values_.read(names_.node(node), name);
  }

  void reset() {
    inner_values_.keep_inputs();
    session_.zero_inputs();
    reset_state().value();
  }

  Result<void> reset_state() noexcept {
    if (Result<void> stored = store_state(loaded_.initial_values); !stored) return stored;
    return session_.restart(loaded_.held_values);
  }

  TensorMap state() const {
    TensorMap state = session_.position();
    for (const std::string& name : plan().feedback_inputs) {
      state.emplace(name, session_.read(session_.now(plan().inputs.at(name))));
    }
    return state;
  }

  void set_state(const TensorMap& state) {
    // All checks first: a wrong state leaves the right one alone.
    TensorMap present = this->state();
    std::vector<std::string> names;
    for (const auto& [name, value] : present) names.push_back(name);
    for (auto& [name, value] : present) {
      const auto found = state.find(name);
      require(found != state.end(), Code::kMissingInput,
              "the state lacks " + name + "; it needs: " + join(names));
      check_fit(name, value.view(), found->second.view());
    }
    for (const auto& [name, value] : state) {
      require(present.contains(name), Code::kUnknownPort,
              "'" + name + "' is not a feedback input; these are: " + join(names));
    }
    session_.set_position(state);
    for (const std::string& name : plan().feedback_inputs) {
      const TensorView& view = session_.now(plan().inputs.at(name));
      session_.store(view, state.at(name).data()).value();
    }
  }

  void prepare(int ticks) {
    require(ticks >= 0, Code::kWrongValue, "prepare() cannot run a negative number of ticks");
    require(loaded_.cannot_run.empty(), Code::kNoModel, loaded_.cannot_run);
    const Session::Values former = session_.values();
    const TensorMap mock = get_mock_input(0);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (session_.input_is_bound(i)) continue;
      session_.store(session_.input(i), mock.at(inputs_[i]).data()).value();
    }
    Result<void> result;
    for (int i = 0; i < ticks && result; ++i) {
      result = session_.warm_up();
    }
    if (result) session_.record();
    session_.set_values(former);
    result.value();
  }

 private:
  Result<void> store_state(const TensorMap& state) noexcept {
    Result<void> stored;
    for (const auto& [name, value] : state) {
      if (stored) stored = session_.store(session_.now(plan().inputs.at(name)), value.data());
    }
    return stored;
  }

  void check_external(std::size_t index, const ConstTensorView& value) {
    const std::string& name = plan().external_inputs[index];
    require(!session_.input_is_bound(index), Code::kBoundPort,
            "input " + name + " is bound to memory of the caller. Write to that memory instead");
    check_fit(name, session_.input(index), value);
  }

  RuntimeOptions options_;
  LoadedBundle loaded_;
  Session session_;
  PortNames names_;
  mutable InnerValues inner_values_;
  std::vector<std::string> inputs_;
  std::vector<std::string> noise_inputs_;
};

InferenceManager::InferenceManager(const std::filesystem::path& yaml, RuntimeOptions options)
    : impl_(std::make_unique<Impl>(yaml, std::move(options))) {}
InferenceManager::~InferenceManager() = default;
InferenceManager::InferenceManager(InferenceManager&&) noexcept = default;
InferenceManager& InferenceManager::operator=(InferenceManager&&) noexcept = default;

InferenceManager::Impl& InferenceManager::impl() const {
  require(impl_ != nullptr, Code::kUsage, kMovedFrom);
  return *impl_;
}

const Bundle& InferenceManager::bundle() const noexcept {
  static const Bundle none;
  return impl_ ? impl_->bundle() : none;
}
const std::vector<std::string>& InferenceManager::inputs() const noexcept {
  return impl_ ? impl_->inputs() : kNoNames;
}
const std::vector<std::string>& InferenceManager::noise_inputs() const noexcept {
  return impl_ ? impl_->noise_inputs() : kNoNames;
}
const std::vector<std::string>& InferenceManager::outputs() const noexcept {
  return impl_ ? impl_->plan().external_outputs : kNoNames;
}
const std::vector<std::string>& InferenceManager::feedback_inputs() const noexcept {
  return impl_ ? impl_->plan().feedback_inputs : kNoNames;
}
std::vector<std::string> InferenceManager::description() const {
  return impl().description();
}

TensorMap InferenceManager::run_policy(const TensorMap& inputs) {
  return impl().exclusively([&](Impl& impl) { return impl.run_policy(inputs); });
}
TensorMap InferenceManager::get_mock_input(std::uint32_t seed) const {
  return impl().get_mock_input(seed);
}

void InferenceManager::set_input_value(std::string_view node, std::string_view input,
                                       const ConstTensorView& value) {
  impl().exclusively([&](Impl& impl) { impl.set_input_value(node, input, value); });
}

Tensor InferenceManager::value(std::string_view node, std::string_view port) const {
  return impl().exclusively([&](Impl& impl) { return impl.value(node, port); });
}

void InferenceManager::reset() {
  impl().exclusively([](Impl& impl) { impl.reset(); });
}

TensorMap InferenceManager::state() const {
  return impl().exclusively([](Impl& impl) { return impl.state(); });
}

void InferenceManager::set_state(const TensorMap& state) {
  impl().exclusively([&](Impl& impl) { impl.set_state(state); });
}

InputPort InferenceManager::input_port(std::string_view name) const {
  return InputPort(impl().names().input(name));
}

OutputPort InferenceManager::output_port(std::string_view name) const {
  return OutputPort(impl().names().output(name));
}

void InferenceManager::bind_input(InputPort port, ConstElements memory) {
  impl().exclusively([&](Impl& impl) { impl.session().bind_input(port.index_, memory); });
}

void InferenceManager::bind_output(OutputPort port, Elements memory) {
  impl().exclusively([&](Impl& impl) { impl.session().bind_output(port.index_, memory); });
}

void InferenceManager::unbind_input(InputPort port) {
  impl().exclusively([&](Impl& impl) { impl.session().unbind_input(port.index_); });
}

void InferenceManager::unbind_output(OutputPort port) {
  impl().exclusively([&](Impl& impl) { impl.session().unbind_output(port.index_); });
}

void InferenceManager::prepare(int ticks) {
  impl().exclusively([&](Impl& impl) { impl.prepare(ticks); });
}

Verification InferenceManager::verify() const {
  return impl().exclusively([](Impl& impl) { return impl.verify(); });
}

Result<void> InferenceManager::set_input(InputPort port, ConstElements elements) noexcept {
  if (!impl_) return moved_from();
  return impl_->held([&](Session& session) { return session.set_input(port.index_, elements); });
}

Result<void> InferenceManager::set_device_input(InputPort port, ConstElements elements) noexcept {
  if (!impl_) return moved_from();
  return impl_->held(
      [&](Session& session) { return session.set_device_input(port.index_, elements); });
}

const TensorView& InferenceManager::input(InputPort port) noexcept {
  return impl_ ? impl_->session().input(port.index_) : kNoView;
}

Result<void> InferenceManager::touch(InputPort port) noexcept {
  if (!impl_) return moved_from();
  return impl_->held([&](Session& session) { return session.touch(port.index_); });
}

Result<void> InferenceManager::clear_inputs() noexcept {
  if (!impl_) return moved_from();
  return impl_->held([](Session& session) {
    session.clear_inputs();
    return Result<void>();
  });
}

std::string InferenceManager::device() const {
  return impl().session().device();
}

Result<void> InferenceManager::get_output(OutputPort port, Elements memory) const noexcept {
  if (!impl_) return moved_from();
  return impl_->held([&](Session& session) { return session.get_output(port.index_, memory); });
}

Result<void> InferenceManager::get_device_output(OutputPort port, Elements memory) const noexcept {
  if (!impl_) return moved_from();
  return impl_->held(
      [&](Session& session) { return session.get_device_output(port.index_, memory); });
}

Result<const void*> InferenceManager::output_data(OutputPort port, DType dtype) const noexcept {
  if (!impl_) return moved_from().failure();
  return impl_->session().output_data(port.index_, dtype);
}

Result<void> InferenceManager::tick() noexcept {
  return impl_ ? impl_->held([](Session& session) { return session.tick(); }) : moved_from();
}

Result<void> InferenceManager::undo_tick() noexcept {
  if (!impl_) return moved_from();
  return impl_->held([](Session& session) { return session.undo_tick(); });
}

std::optional<std::uint64_t> InferenceManager::output_age(OutputPort port) const noexcept {
  const std::int64_t age = impl_ ? impl_->session().age(port.index_) : kNeverRan;
  return age == kNeverRan ? std::nullopt : std::optional(static_cast<std::uint64_t>(age));
}

Result<void> InferenceManager::reset_state() noexcept {
  if (!impl_) return moved_from();
  return impl_->held([this](Session&) { return impl_->reset_state(); });
}

Result<void> InferenceManager::set_noise_seed(std::uint64_t seed) noexcept {
  if (!impl_) return moved_from();
  return impl_->held([&](Session& session) {
    session.set_noise_seed(seed);
    return Result<void>();
  });
}

bool InferenceManager::is_state_finite() const noexcept {
  return !impl_ || impl_->session().is_state_finite();
}

const TensorView& InferenceManager::output(OutputPort port) const noexcept {
  return impl_ ? impl_->session().output(port.index_) : kNoView;
}

Statistics InferenceManager::statistics() const {
  return impl().exclusively([](Impl& impl) { return impl.session().statistics(); });
}

void InferenceManager::reset_statistics() {
  impl().exclusively([](Impl& impl) { impl.session().reset_statistics(); });
}

void InferenceManager::trace_to(const std::filesystem::path& file) {
  const std::string title = bundle().file.stem().string();
  impl().exclusively([&](Impl& impl) { impl.session().trace_to(file, title); });
}

}  // namespace leapp
