#include "bundle/golden_traces.h"

#include "bundle/noise_port.h"
#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using testing::HasSubstr;
using Metadata = SafeTensors::Metadata;

class GoldenTracesTest : public testing::Test {
 protected:
  GoldenTracesTest() {
    for (const NodePorts& node : bundle_.pipeline.inputs) {
      for (const std::string& port : node.ports) {
        const PortRef ref{node.node, port};
        const Port& described = *bundle_.find_input(ref);
        tensors_.push_back(
            {golden_name(0, true, ref), {values_, described.dtype, described.shape}});
      }
    }
  }

  GoldenTraces read(const std::vector<NamedTensorView>& tensors, const Metadata& metadata) const {
    write_safetensors(folder_.path() / "w_golden.safetensors", tensors, metadata);
    return GoldenTraces(bundle_, FileBytes(folder_.path() / "w_golden.safetensors"));
  }
  std::string refusal(const std::vector<NamedTensorView>& tensors, const Metadata& metadata) const {
    return error_of(ErrorKind::kValue, [&] { read(tensors, metadata); });
  }
  std::string refusal_of(const std::string& name, const ConstTensorView& tensor) const {
    std::vector<NamedTensorView> tensors = tensors_;
    tensors.push_back({name, tensor});
    return refusal(tensors, metadata_);
  }

  test::TemporaryFolder folder_;
  const Bundle bundle_ = test::make_bundle();
  const float values_[64] = {1, 2, 3, 4};
  std::vector<NamedTensorView> tensors_;  // the minimum that one tick must contain
  const Metadata metadata_ = GoldenNotes{1, {}, {}, {}}.metadata();
};

TEST_F(GoldenTracesTest, b31_TensorsComeBackByTickSideAndPort) {
  std::vector<NamedTensorView> tensors = tensors_;
  tensors.push_back({"0/inputs/policy/h_in", {values_, DType::kFloat32, {1, 4}}});
  const GoldenTraces traces = read(tensors, metadata_);
  EXPECT_EQ(traces.ticks(), 1u);
  const ConstTensorView* state = traces.input(0, {"policy", "h_in"});
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(static_cast<const float*>(state->data)[3], 4.0F);
  EXPECT_EQ(traces.output(0, {"policy", "h_in"}), nullptr);
  EXPECT_EQ(traces.input(1, {"policy", "h_in"}), nullptr);
}

TEST_F(GoldenTracesTest, b31_NoiseOfARepeatHasTheValuesOfEachRun) {
  Bundle bundle = bundle_;
  make_noise(bundle.models[0].inputs[0], NoiseDistribution::kNormal);
  const PortRef noise{bundle.models[0].name, bundle.models[0].inputs[0].name};
  EXPECT_EQ(golden_runs(bundle, noise), 1);
  bundle.pipeline.schedule.push_back({.node = noise.node, .repeat = 3});
  EXPECT_EQ(golden_runs(bundle, noise), 3);
  EXPECT_EQ(golden_runs(bundle, {noise.node, bundle.models[0].inputs[1].name}), 1);
  const auto reads = [&](Shape shape) {
    std::vector<NamedTensorView> tensors = tensors_;
    for (NamedTensorView& each : tensors) {
      if (each.name == golden_name(0, true, noise)) each.tensor.shape = std::move(shape);
    }
    const auto file = folder_.path() / "w_golden.safetensors";
    write_safetensors(file, tensors, metadata_);
    const FileBytes bytes(file);
    return GoldenTraces(bundle, bytes).input(0, noise)->shape;
  };
  const Shape once = bundle.models[0].inputs[0].shape;
  Shape runs = once;
  runs.insert(runs.begin(), 3);
  EXPECT_EQ(reads(runs), runs);
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { reads(once); }), HasSubstr("[B31]"));
}

TEST_F(GoldenTracesTest, b31_NamesAndFormsMustFitTheBundle) {
  const ConstTensorView fine{values_, DType::kFloat32, {1, 4}};
  for (const char* name : {"h_in", "0/policy/h_in", "x/inputs/policy/h_in", "00/inputs/policy/h_in",
                           "-1/inputs/policy/h_in", "0/sides/policy/h_in", "0/inputs/policy"}) {
    EXPECT_THAT(refusal_of(name, fine), HasSubstr("[B31] the tensor '")) << name;
  }
  EXPECT_THAT(refusal_of("1/inputs/policy/h_in", fine), HasSubstr("belongs to tick 1"));
  EXPECT_THAT(refusal_of("0/inputs/policy/nothing", fine), HasSubstr("belongs to no port"));
  EXPECT_THAT(refusal_of("0/inputs/policy/h_in", {values_, DType::kFloat32, {4}}),
              HasSubstr("is float32 [4], the port is float32 [1, 4]"));
}

TEST_F(GoldenTracesTest, b31_EveryTickHasWhatACallerSupplies) {
  EXPECT_THAT(refusal(tensors_, GoldenNotes{2, {}, {}, {}}.metadata()),
              HasSubstr("[B31] tick 1 lacks the input '"));
}

TEST_F(GoldenTracesTest, b32_MetadataSaysHowManyAndHowClose) {
  const auto with = [&](const std::string& key, const std::string& value) {
    Metadata metadata = metadata_;
    metadata[key] = value;
    return metadata;
  };
  for (const char* ticks : {"", "0", "-1", "1e3", "100001", "99999999999999999999", "01"}) {
    EXPECT_THAT(refusal(tensors_, with("ticks", ticks)), HasSubstr("[B32]")) << ticks;
  }
  for (const char* number : {"", "-1", "nan", "inf", "1x"}) {
    EXPECT_THAT(refusal(tensors_, with("atol", number)), HasSubstr("[B32]")) << number;
    EXPECT_THAT(refusal(tensors_, with("rtol/policy/y", number)), HasSubstr("[B32]")) << number;
  }
  Metadata none = metadata_;
  none.erase("rtol");
  EXPECT_THAT(refusal(tensors_, none), HasSubstr("[B32] its metadata has no 'rtol'"));
}

TEST_F(GoldenTracesTest, b33_WhatNobodySawMayBeLeftOut) {
  const GoldenTraces traces = read(tensors_, metadata_);
  EXPECT_NE(traces.input(0, {"pre", "obs"}), nullptr);
  EXPECT_EQ(traces.input(0, {"policy", "h_in"}), nullptr);
  EXPECT_EQ(traces.output(0, {"policy", "action"}), nullptr);
}

TEST_F(GoldenTracesTest, b32_ToleranceIsTheOutputsOwnWhereItHasOne) {
  const GoldenNotes notes{1, {0.1, 0.25}, {{"policy/h_out", {0.5, 2}}}, {{"pre", "it is random"}}};
  const GoldenTraces traces = read(tensors_, notes.metadata());
  EXPECT_EQ(traces.tolerance({"policy", "action"}), (Tolerance{0.1, 0.25}));
  EXPECT_EQ(traces.tolerance({"policy", "h_out"}), (Tolerance{0.5, 2}));
  EXPECT_EQ(traces.not_compared("pre"), "it is random");
  EXPECT_EQ(traces.not_compared("policy"), "");
}

TEST_F(GoldenTracesTest, b30_TheYamlNamesTheFileWithItsChecksum) {
  Bundle bundle = bundle_;
  bundle.pipeline.golden = FileEntry{"w_golden.safetensors", "", std::string(64, 'a')};
  EXPECT_EQ(parse_bundle(to_yaml(bundle), "w.yaml").pipeline.golden, bundle.pipeline.golden);
  bundle.pipeline.golden->sha256sum.clear();
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { parse_bundle(to_yaml(bundle), "w.yaml"); }),
              HasSubstr("[B30] pipeline.golden: golden traces must state their checksum"));
  bundle.pipeline.golden = FileEntry{"../w_golden.safetensors", "", std::string(64, 'a')};
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { parse_bundle(to_yaml(bundle), "w.yaml"); }),
              HasSubstr("[B14] pipeline.golden"));
}

}  // namespace
}  // namespace leapp
