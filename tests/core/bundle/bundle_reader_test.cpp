#include <sys/resource.h>

#include "base/log.h"
#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using test::replaced;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kYaml = R"(models:
  policy:
    inputs:
    - name: obs
      dtype: float32
      shape: [1, 3]
      type: tensor
      kind: state/joint/position
      element_names: [null, [a, b, c]]
      unit: rad
      limits: {low: -1.5, high: 2, names: [x, yes], none: ~}
    - name: hist
      dtype: int64
      shape: [5]
      type: tensor
      element_names: [__temporal_axis__]
      temporal_period_ms: 20
    outputs:
    - name: act
      dtype: bool
      shape: []
      type: tensor
    parameters:
      model_path: policy.pt
      md5sum: null
      sha256sum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
      backend: jit
      warp_segments: 0

pipeline:
  configs:
    frequency: 50
  data_flow: {}
  feedback_flow: {}
  inputs:
    policy: [obs, hist]
  outputs:
    policy: [act]

system information:
  cuda version: None
  leapp config version: '1.3'
  leapp version: 0.7.2
  os: Debian GNU/Linux 12
  python version: 3.11.7
  torch version: 2.13.0+cpu
  warp version: null
)";

Bundle parse(const std::string& yaml) {
  return parse_bundle(yaml, "w.yaml");
}

std::string refusal(const std::string& from, const std::string& to) {
  return error_of(ErrorKind::kValue, [&] { parse(replaced(kYaml, from, to)); });
}

TEST(BundleReader, EveryFieldArrives) {
  const Bundle bundle = parse(kYaml);
  ASSERT_EQ(bundle.models.size(), 1U);
  const Model& model = bundle.models[0];
  EXPECT_EQ(model.name, "policy");
  EXPECT_EQ(model.inputs[0].shape, (Shape{1, 3}));
  EXPECT_EQ(model.inputs[0].semantics.kind, "state/joint/position");
  const ElementNames names = {{}, std::vector<std::string>{"a", "b", "c"}};
  EXPECT_EQ(model.inputs[0].semantics.element_names, names);
  const Metadata::Map limits = {{"low", {-1.5}},
                                {"high", {std::int64_t{2}}},
                                {"names", {Metadata::List{{std::string("x")}, {true}}}},
                                {"none", {}}};
  const Metadata::Map extra = {{"unit", {std::string("rad")}}, {"limits", {limits}}};
  EXPECT_EQ(model.inputs[0].semantics.extra, extra);
  EXPECT_EQ(model.inputs[1].dtype, DType::kInt64);
  EXPECT_EQ(model.inputs[1].semantics.element_names, ElementNames{TemporalAxis{20}});
  EXPECT_EQ(model.outputs[0].dtype, DType::kBool);
  EXPECT_EQ(model.outputs[0].shape, Shape{});
  EXPECT_EQ(model.file, (FileEntry{"policy.pt", "", std::string(64, 'a')}));
  EXPECT_EQ(model.backend, "jit");
  EXPECT_EQ(bundle.pipeline.configs, (Metadata::Map{{"frequency", {std::int64_t{50}}}}));
  EXPECT_EQ(bundle.pipeline.inputs, (std::vector<NodePorts>{{"policy", {"obs", "hist"}}}));
  EXPECT_EQ(bundle.system_information.os, "Debian GNU/Linux 12");
  EXPECT_EQ(bundle.system_information.cuda_version, std::nullopt);
}

TEST(BundleReader, ANodeWithoutModelLoads) {
  const Bundle bundle = parse(replaced(
      replaced(replaced(kYaml, "policy.pt", "null"), std::string(64, 'a'), "null"), "jit", "null"));
  EXPECT_EQ(bundle.models[0].file, std::nullopt);
  EXPECT_EQ(bundle.models[0].backend, std::nullopt);
}

TEST(BundleReader, b1_TheNameAndSizeOfTheFile) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { read_bundle(folder.write("w.yml", kYaml)); }),
              HasSubstr("w.yml: [B1] the file name of a bundle must end with .yaml"));
  EXPECT_THAT(error_of(ErrorKind::kNotFound, [&] { read_bundle(folder.path() / "no.yaml"); }),
              HasSubstr("no.yaml: the bundle's YAML file was not found"));
  std::filesystem::create_directory(folder.path() / "d.yaml");
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { read_bundle(folder.path() / "d.yaml"); }),
              HasSubstr("d.yaml: [B1] this is not a regular file"));
  const auto file = folder.write("w.yaml", kYaml);
  EXPECT_EQ(read_bundle(file).file, file);
  BundleOptions small;
  small.max_file_bytes = 100;
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { read_bundle(file, small); }),
              HasSubstr("w.yaml:1:1: [B1] the file has"));
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { parse_bundle(kYaml, "w.yaml", small); }),
              HasSubstr("more than the limit of 100"));
}

TEST(BundleReader, b3_AllSectionsAreNeeded) {
  EXPECT_EQ(refusal("pipeline:", "pipelines:"),
            "w.yaml:1:1: [B3] a bundle must contain models, pipeline, system information; "
            "'pipeline' is missing");
  EXPECT_THAT(error_of(ErrorKind::kValue, [] { parse("just text\n"); }),
              HasSubstr("[B3] expected a mapping, found 'just text'"));
}

TEST(BundleReader, b4_VersionsFromOneToFour) {
  for (const char* version : {"'1.1'", "1.2", "'1.4'"}) {
    EXPECT_NO_THROW(parse(replaced(kYaml, "'1.3'", version)));
  }
  EXPECT_EQ(refusal("'1.3'", "'1.5'"),
            "w.yaml:42:25: [B4] system information.leapp config version: config version 1.5 is "
            "newer than this library, which reads up to 1.4; install a newer leapp");
  EXPECT_THAT(refusal("'1.3'", "'2.0'"), HasSubstr("is newer than this library"));
  EXPECT_THAT(refusal("'1.3'", "'1.0'"), HasSubstr("[B4]"));
  EXPECT_THAT(refusal("'1.3'", "abc"), HasSubstr("'abc' is not a config version"));
  for (const char* odd : {"' 1.3'", "'1.3 '", "'+1.3'", "'01.3'", "'1.03'", "'1.'", "'1.3.0'"}) {
    EXPECT_THAT(refusal("'1.3'", odd), HasSubstr("is not a config version")) << odd;
  }
  EXPECT_THAT(refusal("leapp config version: '1.3'", "x: y"),
              HasSubstr("system information must contain leapp config version"));
}

TEST(BundleReader, b6_AModelsParts) {
  EXPECT_THAT(refusal("    outputs:\n    - name", "    exits:\n    - name"),
              StartsWith("w.yaml:3:5: [B6] models.policy: a model must contain inputs, outputs, "
                         "parameters; 'outputs' is missing"));
  EXPECT_THAT(refusal("sha256sum", "sha512sum"),
              HasSubstr("[B6] models.policy.parameters: a model's parameters must contain "
                        "model_path, md5sum, sha256sum, backend; 'sha256sum' is missing"));
  EXPECT_THAT(refusal("warp_segments: 0", "opset_version: new"),
              HasSubstr("w.yaml:28:22: [B6] models.policy.parameters.opset_version: expected an "
                        "integer, found 'new'"));
  EXPECT_THAT(refusal("warp_segments: 0", "external_data: 7"), HasSubstr("expected a list"));
  EXPECT_THAT(refusal("warp_segments: 0", "external_data: [{path: x}]"),
              HasSubstr("external_data[0]: external data must contain path, sha256sum"));
}

TEST(BundleReader, b7_APortsParts) {
  EXPECT_THAT(refusal("dtype: float32\n", "data: float32\n"),
              StartsWith("w.yaml:4:7: [B7] models.policy.inputs[0]: a port must contain name, "
                         "dtype, shape; 'dtype' is missing"));
  EXPECT_THAT(refusal("type: tensor\n      kind", "type: image\n      kind"),
              HasSubstr("[B7] models.policy.inputs[0].type: expected tensor, found 'image'"));
  EXPECT_THAT(
      refusal("name: obs", "name: [obs]"),
      HasSubstr("w.yaml:4:13: [B7] models.policy.inputs[0].name: expected text, found list"));
}

TEST(BundleReader, b8_DTypeAndShape) {
  EXPECT_EQ(refusal("float32", "float33"),
            "w.yaml:5:14: [B8] models.policy.inputs[0].dtype: there is no dtype 'float33'");
  EXPECT_EQ(refusal("[1, 3]", "[1, x]"),
            "w.yaml:6:18: [B8] models.policy.inputs[0].shape[1]: expected a size, found 'x'");
  EXPECT_EQ(
      refusal("[1, 3]", "[1, -3]"),
      "w.yaml:6:14: [B8] models.policy.inputs[0].shape: the shape [1, -3] has a negative size");
  EXPECT_THAT(refusal("[1, 3]", "[9223372036854775807, 3]"), HasSubstr("has too many elements"));
  EXPECT_THAT(refusal("[1, 3]", "[99999999999999999999]"), HasSubstr("expected a size"));
}

TEST(BundleReader, b10_ElementNamesMustHaveTheRightForm) {
  EXPECT_THAT(refusal("[null, [a, b, c]]", "[a, [a, b, c]]"),
              HasSubstr("[B10] models.policy.inputs[0].element_names[0]: expected null, "
                        "__temporal_axis__ or a list of names, found 'a'"));
  EXPECT_THAT(refusal("temporal_period_ms: 20", "x: 1"),
              HasSubstr("a time axis needs the field temporal_period_ms"));
  EXPECT_THAT(refusal("temporal_period_ms: 20", "temporal_period_ms: soon"),
              HasSubstr("expected a number, found 'soon'"));
}

TEST(BundleReader, b10_EveryWritersWayOfNamingOneDimension) {
  const std::vector<std::string> names = {"a", "b", "c"};
  const auto read = [&](const char* form) {
    return *parse(replaced(kYaml, "[null, [a, b, c]]", form))
                .models[0]
                .inputs[0]
                .semantics.element_names;
  };
  EXPECT_EQ(read("[[a, b, c]]"), ElementNames{names});
  EXPECT_EQ(read("[a, b, c]"), ElementNames{names});
  EXPECT_EQ(read("[null, [a, b, c]]"), (ElementNames{{}, names}));
  EXPECT_EQ(read("[[], [a, b, c]]"), (ElementNames{{}, names}));
}

TEST(BundleReader, b10_OddElementNamesOfOthersAreWarnedAbout) {
  std::string line;
  LogSink former = set_log_sink([&](LogLevel, std::string_view text) { line = text; });
  EXPECT_NO_THROW(parse(replaced(kYaml, "[a, b, c]", "[a, b]")));
  set_log_sink(std::move(former));
  EXPECT_THAT(line, StartsWith("w.yaml:9:22: [B10] models.policy.inputs[0].element_names: "));
}

TEST(BundleReader, b12_TheBackend) {
  EXPECT_EQ(refusal("backend: jit", "backend: warp"),
            "w.yaml:27:16: [B12] models.policy.parameters.backend: Unsupported backend 'warp'; "
            "expected jit, onnx, pt2, cpp or null");
}

TEST(BundleReader, b15_WiresHaveTheRightForm) {
  EXPECT_THAT(refusal("data_flow: {}", "data_flow: {act: [policy/obs]}"),
              HasSubstr("w.yaml:33:15: [B15] pipeline.data_flow.act: expected node/port, found "
                        "'act'"));
  EXPECT_THAT(refusal("data_flow: {}", "data_flow: {policy/act: policy/obs}"),
              HasSubstr("expected a list"));
  EXPECT_THAT(refusal("policy: [act]", "policy: act"), HasSubstr("expected a list"));
}

// Every prefix of a bundle is refused with a position, except the one that lacks an optional line.
TEST(BundleReader, b2_b4_TruncatedFilesAreRefused) {
  const std::size_t whole_without_last_line = kYaml.find("  warp version");
  for (std::size_t length = 0; length < kYaml.size(); ++length) {
    if (length == whole_without_last_line) continue;
    try {
      parse(kYaml.substr(0, length));
      ADD_FAILURE() << "loaded " << length << " bytes";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith("w.yaml:"));
    }
  }
  EXPECT_NO_THROW(parse(kYaml.substr(0, whole_without_last_line)));
}

TEST(BundleReader, b8_SizesAreDecimal) {
  for (const char* odd : {"08", "010", "0x8"}) {
    EXPECT_THAT(refusal("shape: [1, 3]", std::string("shape: [1, ") + odd + "]"), HasSubstr("[B8]"))
        << odd;
  }
}

TEST(BundleReader, b13_ChecksumsAreLowerCase) {
  EXPECT_THAT(refusal(std::string(64, 'a'), std::string(64, 'A')),
              HasSubstr("is not a checksum; expected 64 lower-case hexadecimal digits"));
}

TEST(BundleReader, b5_NamesThatTurnTextAreRefused) {
  EXPECT_THAT(refusal("name: obs", "name: \"o\\u202Ebs\""), HasSubstr("hides or reverses"));
}

// A flipped bit leaves a valid bundle or is refused with a position; it never causes a crash.
TEST(BundleReader, FlippedBitsAreRefusedOrHarmless) {
  for (std::size_t i = 0; i < kYaml.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = kYaml;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      try {
        parse(damaged);
      } catch (const Error& error) {
        ASSERT_THAT(error.what(), StartsWith("w.yaml:"));
      }
    }
  }
}

TEST(BundleReader, TenThousandNodesLoadInLittleMemory) {
  Bundle bundle;
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "node" + std::to_string(i);
    bundle.models.push_back(test::make_model(name, {test::make_port("x")}, {test::make_port("y")}));
    if (i == 0) {
      bundle.pipeline.inputs = {{name, {"x"}}};
    } else {
      bundle.pipeline.data_flow.push_back({{"node" + std::to_string(i - 1), "y"}, {{name, "x"}}});
    }
  }
  bundle.pipeline.outputs = {{"node9999", {"y"}}};
  const Bundle back = parse(to_yaml(bundle));
  EXPECT_EQ(back.models, bundle.models);
  EXPECT_EQ(execution_order(back).back(), 9999U);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need memory
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 1'000'000);  // kilobytes
#endif
}

}  // namespace
}  // namespace leapp
