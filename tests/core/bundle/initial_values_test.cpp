#include "bundle/initial_values.h"

#include "base/hash.h"
#include "base/log.h"
#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using testing::HasSubstr;

class InitialValuesTest : public testing::Test {
 protected:
  Bundle bundle_with(const std::vector<std::pair<PortRef, ConstTensorView>>& values) const {
    Bundle bundle = test::make_bundle();
    bundle.pipeline.initial_values =
        write_initial_values(folder_.path() / "w_initial_values.safetensors", values);
    return bundle;
  }

  std::string refusal(const std::pair<PortRef, ConstTensorView>& value) const {
    const Bundle bundle = bundle_with({value});
    return error_of(ErrorKind::kValue, [&] { read(bundle); });
  }

  SafeTensors read(const Bundle& bundle) const {
    const FileBytes file(folder_.path() / bundle.pipeline.initial_values->path);
    return read_initial_values(bundle, &file);
  }

  test::TemporaryFolder folder_;
  const float values_[4] = {1, 2, 3, 4};
};

TEST_F(InitialValuesTest, b20_ComeBackByPort) {
  const Bundle bundle = bundle_with({{{"policy", "h_in"}, {values_, DType::kFloat32, {1, 4}}},
                                     {{"pre", "last"}, {values_, DType::kFloat32, {1, 4}}}});
  EXPECT_EQ(bundle.pipeline.initial_values->path, "w_initial_values.safetensors");
  EXPECT_EQ(bundle.pipeline.initial_values->sha256sum,
            sha256_file(folder_.path() / "w_initial_values.safetensors"));
  const SafeTensors back = read(bundle);
  EXPECT_EQ(static_cast<const float*>(back.find("policy/h_in")->data)[3], 4.0F);
}

TEST_F(InitialValuesTest, b20_MustHoldEveryFeedbackInput) {
  EXPECT_THAT(refusal({{"policy", "h_in"}, {values_, DType::kFloat32, {1, 4}}}),
              HasSubstr("[B20] there is no initial value for the feedback input 'pre/last'"));
}

TEST_F(InitialValuesTest, b20_NoFileMeansZerosAndAWarning) {
  std::string line;
  LogSink former = set_log_sink([&](LogLevel, std::string_view text) { line = text; });
  EXPECT_TRUE(read_initial_values(test::make_bundle(), nullptr).tensors().empty());
  set_log_sink(std::move(former));
  EXPECT_THAT(line, HasSubstr("so every feedback input starts as zeros"));
}

TEST_F(InitialValuesTest, b20_MustBelongToAnInputAndFitIt) {
  EXPECT_THAT(refusal({{"policy", "x"}, {values_, DType::kFloat32, {1, 4}}}),
              HasSubstr("[B20] the initial value 'policy/x' belongs to no input of this bundle"));
  EXPECT_THAT(
      refusal({{"policy", "h_in"}, {values_, DType::kFloat32, {4}}}),
      HasSubstr("[B20] the initial value 'policy/h_in' has shape [4], the port has [1, 4]"));
  EXPECT_THAT(refusal({{"policy", "h_in"}, {values_, DType::kInt32, {1, 4}}}),
              HasSubstr("has dtype int32, the port has float32"));
}

TEST_F(InitialValuesTest, b40_ReadersOfOneHeldValueStartWithOneValue) {
  const float others[4] = {};
  Bundle bundle = test::make_bundle();
  bundle.models[0].inputs.push_back(test::make_port("features", {1, 6}));
  bundle.pipeline.feedback_flow.clear();
  bundle.pipeline.data_flow = {{{"policy", "action"}, {{"pre", "last"}, {"policy", "h_in"}}}};
  const auto read_with = [&](const float* second) {
    bundle.pipeline.initial_values =
        write_initial_values(folder_.path() / "w_initial_values.safetensors",
                             {{{"pre", "last"}, {values_, DType::kFloat32, {1, 4}}},
                              {{"policy", "h_in"}, {second, DType::kFloat32, {1, 4}}}});
    read(bundle);
  };
  EXPECT_NO_THROW(read_with(others));  // without a schedule they are never read
  bundle.pipeline.schedule = {{.node = "policy", .every = 2}};
  EXPECT_NO_THROW(read_with(values_));
  EXPECT_THAT(test::error_of(ErrorKind::kValue, [&] { read_with(others); }),
              HasSubstr("[B40] 'pre/last' and 'policy/h_in' both read 'policy/action'"));
}

}  // namespace
}  // namespace leapp
