#include "leapp/elements.h"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "leapp/inference_manager.h"

namespace leapp {
namespace {

// The types that a call accepts are part of its promise, and so are those that it refuses: if an
// unchecked argument is accepted, these lines do not compile.
template <typename T>
concept CanSet = requires(InferenceManager& manager, InputPort port, T&& value) {
  manager.set_input(port, static_cast<T&&>(value));
};
template <typename T>
concept CanSetOnDevice = requires(InferenceManager& manager, InputPort port, T&& value) {
  manager.set_device_input(port, static_cast<T&&>(value));
};
template <typename T>
concept CanBindInput = requires(InferenceManager& manager, InputPort port, T&& value) {
  manager.bind_input(port, static_cast<T&&>(value));
};
template <typename T>
concept CanBindOutput = requires(InferenceManager& manager, OutputPort port, T&& value) {
  manager.bind_output(port, static_cast<T&&>(value));
};
template <typename T>
concept CanGet = requires(InferenceManager& manager, OutputPort port, T&& value) {
  manager.get_output(port, static_cast<T&&>(value));
};
template <typename T>
concept CanGetOnDevice = requires(InferenceManager& manager, OutputPort port, T&& value) {
  manager.get_device_output(port, static_cast<T&&>(value));
};

template <typename T>
constexpr bool kReads = CanSet<T>&& CanSetOnDevice<T>&& CanBindInput<T>;
template <typename T>
constexpr bool kNeverReads = !CanSet<T> && !CanSetOnDevice<T> && !CanBindInput<T>;
template <typename T>
constexpr bool kWrites = CanBindOutput<T>&& CanGet<T>&& CanGetOnDevice<T>;
template <typename T>
constexpr bool kNeverWrites = !CanBindOutput<T> && !CanGet<T> && !CanGetOnDevice<T>;

static_assert(kReads<std::vector<float>&> && kReads<const std::vector<float>&>);
static_assert(kReads<float (&)[3]> && kReads<const std::array<double, 2>&>);
static_assert(kReads<std::span<const std::int64_t>> && kReads<const Tensor&> &&
              kReads<ConstTensorView>);
static_assert(CanSet<std::vector<float>>);         // copied before the temporary is destroyed
static_assert(!CanBindInput<std::vector<float>>);  // the binding would outlive the memory
static_assert(kNeverReads<float*> && kNeverReads<const void*> && kNeverReads<std::nullptr_t>);
static_assert(kNeverReads<std::vector<float>*> && kNeverReads<float (*)[3]>);
static_assert(kNeverReads<const char (&)[6]> && kNeverReads<const char*> &&
              kNeverReads<std::string&>);
static_assert(kNeverReads<std::vector<bool>&> && kNeverReads<std::vector<float*>&> &&
              kNeverReads<float (&)[3][4]> && kNeverReads<int> && kNeverReads<float>);
static_assert(kNeverReads<std::span<const std::byte>>);  // the type is unknown

static_assert(kWrites<std::vector<float>&> && kWrites<float (&)[3]> && kWrites<std::span<float>> &&
              kWrites<Tensor&> && kWrites<TensorView>);
static_assert(kNeverWrites<const std::vector<float>&> && kNeverWrites<std::span<const float>> &&
              kNeverWrites<const Tensor&> && kNeverWrites<ConstTensorView>);
static_assert(kNeverWrites<std::vector<float>>);  // a temporary: the elements would be lost
static_assert(kNeverWrites<float*> && kNeverWrites<void*> && kNeverWrites<std::nullptr_t> &&
              kNeverWrites<std::vector<float>*> && kNeverWrites<char (&)[6]>);

// The result of a call in the loop cannot be ignored, and its failure is not an exception.
static_assert(noexcept(std::declval<InferenceManager&>().set_input(InputPort(), {DType{}, {}})));
static_assert(noexcept(std::declval<InferenceManager&>().touch(InputPort())));
static_assert(noexcept(std::declval<InferenceManager&>().clear_inputs()));
static_assert(noexcept(std::declval<InferenceManager&>().output<float>(OutputPort())));

TEST(ElementsTest, KnowTheirTypeAndSize) {
  const std::array<std::int64_t, 3> numbers{1, 2, 3};
  const ConstElements elements = numbers;
  EXPECT_EQ(elements.data(), numbers.data());
  EXPECT_EQ(elements.dtype(), DType::kInt64);
  EXPECT_EQ(elements.byte_size(), 24u);
  bool flags[2] = {true, false};
  const Elements writable = flags;
  EXPECT_EQ(writable.data(), flags);
  EXPECT_EQ(writable.dtype(), DType::kBool);
  EXPECT_EQ(writable.byte_size(), 2u);
}

TEST(ElementsTest, ComeFromTensorsAndViews) {
  Tensor tensor({2, 2}, {1.0, 2.0, 3.0, 4.0});
  const ConstElements elements = tensor;
  EXPECT_EQ(elements.data(), tensor.data());
  EXPECT_EQ(elements.dtype(), DType::kFloat64);
  EXPECT_EQ(elements.byte_size(), 32u);
  const Elements writable = tensor.view();
  EXPECT_EQ(writable.data(), tensor.data());
  EXPECT_EQ(writable.byte_size(), 32u);
  const ConstElements viewed = ConstTensorView(nullptr, DType::kFloat16, {3});
  EXPECT_EQ(viewed.data(), nullptr);
  EXPECT_EQ(viewed.byte_size(), 6u);
}

TEST(ElementsTest, BytesSayWhatTheyHold) {
  const std::array<std::uint16_t, 2> halves{0x3C00, 0x4000};
  const ConstElements elements(DType::kFloat16, std::as_bytes(std::span(halves)));
  EXPECT_EQ(elements.dtype(), DType::kFloat16);
  EXPECT_EQ(elements.byte_size(), 4u);
  EXPECT_EQ(elements.data(), halves.data());
}

}  // namespace
}  // namespace leapp
