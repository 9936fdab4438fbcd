#include "support.h"

namespace leapp {
namespace {

using testing::HasSubstr;

TEST(BundleWriter, b22_TheLayout) {
  Bundle bundle = test::make_bundle();
  bundle.models[0].inputs[0].semantics = {
      "state/joint/position",
      ElementNames{{}, std::vector<std::string>{"a", "b", "no", "d"}},
      {{"unit", {std::string("rad")}},
       {"range", {Metadata::List{{-1.5}, {Metadata::Map{{"max", {std::int64_t{2}}}}}}}},
       {"nothing", {Metadata::Map{}}}}};
  bundle.models[1].external_data = {{"policy.onnx.data", "", test::kSomeSha256}};
  bundle.pipeline.configs = {{"robot", {std::string("r1")}}, {"frequency", {50.0}}};
  bundle.pipeline.initial_values = {"w_initial_values.safetensors", "", test::kSomeSha256};
  bundle.system_information.os = "Debian GNU/Linux 12";
  EXPECT_EQ(to_yaml(bundle), R"(models:
  pre:
    inputs:
    - name: obs
      dtype: float32
      shape: [1, 4]
      type: tensor
      kind: state/joint/position
      element_names: [null, [a, b, 'no', d]]
      unit: rad
      range:
      - -1.5
      - max: 2
      nothing: {}
    - name: last
      dtype: float32
      shape: [1, 4]
      type: tensor
    outputs:
    - name: features
      dtype: float32
      shape: [1, 6]
      type: tensor
    parameters:
      model_path: pre.onnx
      md5sum: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
      sha256sum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
      backend: onnx
      warp_segments: 0
      opset_version: 20
  policy:
    inputs:
    - name: features
      dtype: float32
      shape: [1, 6]
      type: tensor
    - name: h_in
      dtype: float32
      shape: [1, 4]
      type: tensor
    outputs:
    - name: action
      dtype: float32
      shape: [1, 4]
      type: tensor
    - name: h_out
      dtype: float32
      shape: [1, 4]
      type: tensor
    parameters:
      model_path: policy.onnx
      md5sum: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
      sha256sum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
      backend: onnx
      warp_segments: 0
      opset_version: 20
      external_data:
      - path: policy.onnx.data
        sha256sum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

pipeline:
  configs:
    frequency: 50.0
    robot: r1
  data_flow:
    pre/features: [policy/features]
  feedback_flow:
    policy/action: [pre/last]
    policy/h_out: [policy/h_in]
  initial_values: w_initial_values.safetensors
  initial_values_sha256sum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  inputs:
    pre: [obs]
  outputs:
    policy: [action]

system information:
  cuda version: None
  leapp config version: '1.3'
  leapp version: None
  os: Debian GNU/Linux 12
  python version: None
  torch version: None
  warp version: null

)");
}

TEST(BundleWriter, b22_NodesWithoutModelAndEmptyParts) {
  Bundle bundle;
  EXPECT_THAT(to_yaml(bundle), HasSubstr("models: {}\n\npipeline:\n  data_flow: {}\n"
                                         "  feedback_flow: {}\n  inputs: {}\n  outputs: {}\n"));
  Model model;
  model.name = "n";
  bundle.models = {model};
  EXPECT_THAT(to_yaml(bundle), HasSubstr("  n:\n    inputs: []\n    outputs: []\n    parameters:\n"
                                         "      model_path: null\n      md5sum: null\n"
                                         "      sha256sum: null\n      backend: null\n"
                                         "      warp_segments: 0\n"));
}

TEST(BundleWriter, b22_EverythingButModelsIsSorted) {
  Bundle one = test::make_bundle();
  Bundle two = one;
  one.pipeline.configs = {{"b", {Metadata::Map{{"y", {1.5}}, {"x", {2.5}}}}}, {"a", {}}};
  two.pipeline.configs = {{"a", {}}, {"b", {Metadata::Map{{"x", {2.5}}, {"y", {1.5}}}}}};
  std::swap(two.pipeline.feedback_flow[0], two.pipeline.feedback_flow[1]);
  EXPECT_EQ(to_yaml(one), to_yaml(two));
}

TEST(BundleWriter, LongListsGoOnInTheNextLine) {
  Bundle bundle = test::make_bundle();
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("quite_a_long_joint_name_" + std::to_string(i));
  bundle.models[0].inputs[0].shape = {12};
  bundle.models[0].inputs[0].semantics.element_names = ElementNames{names};
  const std::string yaml = to_yaml(bundle);
  EXPECT_THAT(yaml, HasSubstr("      element_names: [[quite_a_long_joint_name_0, "
                              "quite_a_long_joint_name_1, quite_a_long_joint_name_2,\n"
                              "          quite_a_long_joint_name_3, "));
  EXPECT_EQ(parse_bundle(yaml, "w.yaml"), bundle);
}

TEST(BundleWriter, ATimeAxisKeepsItsPeriod) {
  Bundle bundle = test::make_bundle();
  for (const double period : {20.0, 10.5, 1e-3}) {
    bundle.models[0].inputs[0].semantics.element_names = ElementNames{{}, TemporalAxis{period}};
    EXPECT_EQ(parse_bundle(to_yaml(bundle), "w.yaml"), bundle);
  }
  bundle.models[0].inputs[0].semantics.element_names = ElementNames{TemporalAxis{20.0}, {}};
  EXPECT_THAT(to_yaml(bundle), HasSubstr("element_names: [__temporal_axis__, null]\n"
                                         "      temporal_period_ms: 20\n"));
}

TEST(BundleWriter, StrangeNamesComeBack) {
  Bundle bundle = test::make_bundle();
  const std::string node = "yes: no #1 'x' \"y\" größe 模型";
  const std::string port = "a/b.c-d [e] {f}, null";
  bundle.models[1].name = node;
  bundle.models[1].outputs[0].name = port;
  bundle.pipeline.data_flow[0].targets[0].node = node;
  bundle.pipeline.feedback_flow = {{{node, port}, {{"pre", "last"}}},
                                   {{node, "h_out"}, {{node, "h_in"}}}};
  bundle.pipeline.outputs = {{node, {port}}};
  bundle.models[0].inputs[0].semantics.extra = {
      {"~", {Metadata::List{{Metadata::List{{std::string("")}, {Metadata::List{}}}}, {true}}}}};
  EXPECT_EQ(parse_bundle(to_yaml(bundle), "w.yaml"), bundle);
}

}  // namespace
}  // namespace leapp
