#include "bundle/rules.h"

#include <functional>
#include <limits>

#include "bundle/port_rules.h"
#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using test::make_bundle;
using test::make_model;
using test::make_port;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns the error of check() for the example after a change.
std::string fault_after(const std::function<void(Bundle&)>& change,
                        const BundleOptions& options = {}) {
  Bundle bundle = make_bundle();
  change(bundle);
  return error_of(ErrorKind::kValue, [&] { check(bundle, options); });
}

TEST(Rules, TheExampleKeepsThem) {
  EXPECT_NO_THROW(check(make_bundle()));
}

TEST(Rules, b5_NamesOfNodes) {
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].name = "a/b"; }),
              HasSubstr("[B5] models.a/b: the node name 'a/b' contains '/'"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].name = "policy"; }),
              HasSubstr("[B5] models.policy: two models have this name"));
  EXPECT_THAT(find_node_name_fault(""), HasSubstr("must not be empty"));
  EXPECT_THAT(find_node_name_fault("a\nb"), HasSubstr("'a\\x0Ab' contains a control character"));
  EXPECT_THAT(find_node_name_fault("\xFF"), HasSubstr("is not valid UTF-8"));
  EXPECT_THAT(find_node_name_fault(std::string(201, 'x')), HasSubstr("longer than 200 bytes"));
  for (const char* name : {"a.b", "a-b", "a b", "größe", "-", "1"}) {
    EXPECT_THAT(find_node_name_fault(name), IsEmpty()) << name;
  }
}

TEST(Rules, b5_NamesOfPorts) {
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].inputs[0].name = ""; }),
              HasSubstr("[B5] models.pre.inputs[0].name: a name must not be empty"));
  EXPECT_THAT(find_port_name_fault("a/b"), IsEmpty());
}

TEST(Rules, b7_OnePortOfANameOnEachSide) {
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].inputs[1].name = "obs"; }),
              HasSubstr("[B7] models.pre.inputs[1].name: Duplicate i/o name 'obs' among the inputs "
                        "of 'pre'"));
}

TEST(Rules, b9_TensorsOfATickAreBounded) {
  const std::string fault = fault_after([](Bundle& b) {
    b.models[0].inputs[0].shape = {1 << 20, 1 << 10};
  });
  EXPECT_THAT(fault, HasSubstr("[B9] models.pre.inputs[0].shape: with this port of shape "
                               "[1048576, 1024] the tensors of one tick exceed the limit of "
                               "1073741824 bytes"));
  BundleOptions generous;
  generous.max_tensor_bytes = std::uint64_t{1} << 40;
  Bundle bundle = make_bundle();
  bundle.models[0].inputs[0].shape = {1 << 20, 1 << 10};
  EXPECT_NO_THROW(check(bundle, generous));
  // The bytes of the example: 16 each for obs, last, h_in, action and h_out, and 24 for features,
  // which producer and consumer share.
  BundleOptions exact;
  exact.max_tensor_bytes = 5 * 16 + 24;
  EXPECT_NO_THROW(check(make_bundle(), exact));
  --exact.max_tensor_bytes;
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { check(make_bundle(), exact); }), HasSubstr("[B9]"));
}

TEST(Rules, b10_ElementNamesFitTheShape) {
  const std::vector<std::string> three = {"a", "b", "c"};
  EXPECT_THAT(find_element_names_fault({{}, three}, {1, 3}), IsEmpty());
  EXPECT_THAT(find_element_names_fault({three}, {1, 3}), IsEmpty());  // the last dimension
  EXPECT_THAT(find_element_names_fault({std::vector<std::string>{"x"}}, {}), IsEmpty());
  EXPECT_EQ(find_element_names_fault({{}, three}, {1, 4}),
            "element_names gives 3 names for dimension 1 of the shape [1, 4], which has 4");
  EXPECT_EQ(find_element_names_fault({{}, three}, {3}),
            "element_names describes 2 dimensions, the shape [3] has 1");
  EXPECT_EQ(find_element_names_fault({TemporalAxis{1}, TemporalAxis{1}}, {1, 1}),
            "element_names can contain at most one TemporalAxis");
  for (const double period : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(find_element_names_fault({TemporalAxis{period}}, {1}),
                HasSubstr("must be a positive number"));
  }
  EXPECT_THAT(fault_after([&](Bundle& b) {
                b.models[0].inputs[0].semantics.element_names = ElementNames{{}, three};
              }),
              HasSubstr("[B10] models.pre.inputs[0].element_names: element_names gives 3"));
}

TEST(Rules, b11_ExtraKeysTakeNoOthersPlace) {
  for (const char* key : {"name", "dtype", "shape", "type", "kind", "element_names"}) {
    EXPECT_THAT(find_extra_fault({{key, {}}}), HasSubstr("extra must not overwrite")) << key;
  }
  EXPECT_THAT(find_extra_fault({{"a", {}}, {"a", {}}}), HasSubstr("'a' is given twice"));
  EXPECT_THAT(find_extra_fault({{"", {}}}), HasSubstr("must not be empty"));
  Metadata deep;
  for (int i = 0; i < 40; ++i) deep = {Metadata::List{deep}};
  EXPECT_THAT(find_extra_fault({{"a", deep}}), HasSubstr("nested deeper than 32 levels"));
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.models[1].outputs[0].semantics.extra = {{"shape", {std::int64_t{1}}}};
              }),
              HasSubstr("[B11] models.policy.outputs[0]"));
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.pipeline.configs = {{"a", {}}, {"a", {}}};
              }),
              HasSubstr("[B11] pipeline.configs: the key 'a' is given twice"));
}

TEST(Rules, b12_BackendsThatExist) {
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].backend = "jit-script"; }),
              HasSubstr("[B12] models.pre.parameters.backend: Unsupported backend 'jit-script'"));
}

TEST(Rules, b13_ChecksumsAreHexadecimalAndThere) {
  EXPECT_THAT(
      fault_after([](Bundle& b) { b.models[0].file->sha256sum = "abc"; }),
      HasSubstr("[B13] models.pre.parameters.sha256sum: 'abc' is not a checksum; expected 64"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].file->md5sum = std::string(32, 'g'); }),
              HasSubstr("[B13] models.pre.parameters.md5sum"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].file->sha256sum = ""; }),
              HasSubstr("[B13] models.pre.parameters.sha256sum"));
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.models[0].external_data = {{"w.data", "", ""}};
              }),
              HasSubstr("[B13] models.pre.parameters.external_data[0].sha256sum"));
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.pipeline.initial_values = {"v", "", "0"};
              }),
              HasSubstr("[B13] pipeline.initial_values_sha256sum"));
}

TEST(Rules, b14_PathsStayInTheFolder) {
  for (const char* path : {"/etc/passwd", "../x.onnx", "a/../../x.onnx", "..", "a/../.."}) {
    EXPECT_THAT(fault_after([&](Bundle& b) { b.models[0].file->path = path; }),
                HasSubstr("[B14] models.pre.parameters.model_path: '" + std::string(path) +
                          "' is outside the bundle's directory"));
  }
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].file->path = ""; }), HasSubstr("[B14]"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[0].file->path = std::string("a\0b", 3); }),
              HasSubstr("is not a path"));
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.models[0].external_data = {{"../w.data", "", test::kSomeSha256}};
              }),
              HasSubstr("external_data[0].path"));
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.pipeline.initial_values = {"../v", "", ""};
              }),
              HasSubstr("[B14] pipeline.initial_values"));
  Bundle bundle = make_bundle();
  bundle.models[0].file->path = "sub/folder/a..b.onnx";
  EXPECT_NO_THROW(check(bundle));
  bundle.models[0].file->path = "../elsewhere.onnx";
  BundleOptions trusting;
  trusting.allow_outside_files = true;
  EXPECT_NO_THROW(check(bundle, trusting));
}

TEST(Rules, b15_WiresEndAtPortsThatExist) {
  EXPECT_THAT(fault_after([](Bundle& b) { b.pipeline.data_flow[0].source.node = "pro"; }),
              HasSubstr("[B15] pipeline.data_flow.pro/features: there is no model 'pro'"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.pipeline.data_flow[0].source.port = "obs"; }),
              HasSubstr("the model 'pre' has no output 'obs'"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.pipeline.data_flow[0].targets[0].port = "action"; }),
              HasSubstr("[B15] pipeline.data_flow.pre/features[0]: the model 'policy' has no input "
                        "'action'"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.pipeline.inputs[0].ports[0] = "x"; }),
              HasSubstr("[B15] pipeline.inputs.pre[0]: the model 'pre' has no input 'x'"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.pipeline.outputs[0].ports[0] = "x"; }),
              HasSubstr("[B15] pipeline.outputs.policy[0]: the model 'policy' has no output 'x'"));
}

TEST(Rules, b16_EveryInputHasOneSource) {
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.pipeline.feedback_flow[0].targets.push_back({"policy", "h_in"});
              }),
              HasSubstr("[B16] pipeline.feedback_flow.policy/h_out[0]: the input 'policy/h_in' has "
                        "two sources: policy/action and policy/h_out"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.pipeline.inputs[0].ports.push_back("last"); }),
              HasSubstr("the input 'pre/last' has two sources: policy/action and the pipeline's "
                        "inputs"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.pipeline.inputs.clear(); }),
              HasSubstr("[B16] models.pre.inputs[0].name: the input 'pre/obs' has no source"));
}

TEST(Rules, b17_BothEndsOfAWireAgree) {
  EXPECT_THAT(fault_after([](Bundle& b) {
                b.models[1].inputs[0].shape = {1, 7};
              }),
              HasSubstr("[B17] pipeline.data_flow.pre/features[0]: Shape mismatch in pipeline "
                        "connection: pre/features is [1, 6], policy/features expects [1, 7]"));
  EXPECT_THAT(fault_after([](Bundle& b) { b.models[1].outputs[1].dtype = DType::kFloat16; }),
              HasSubstr("Dtype mismatch in pipeline connection: policy/h_out is float16, "
                        "policy/h_in expects float32"));
}

TEST(Rules, b19_EveryOutputGoesSomewhere) {
  EXPECT_THAT(
      fault_after([](Bundle& b) { b.models[0].outputs.push_back(make_port("extra")); }),
      HasSubstr("[B19] models.pre.outputs[1].name: node 'pre' has unroutable outputs: 'extra'"
                " is not used"));
}

TEST(Rules, OneValueMayFeedManyInputsAndStillBeAnOutput) {
  Bundle bundle = make_bundle();
  bundle.models[1].inputs.push_back(make_port("again", {1, 6}));
  bundle.pipeline.data_flow[0].targets.push_back({"policy", "again"});
  bundle.pipeline.outputs.push_back({"pre", {"features"}});
  EXPECT_NO_THROW(check(bundle));
}

TEST(Rules, ManyPortsAndWiresAreCheckedInLinearTime) {
  Bundle bundle;
  std::vector<Port> ports;
  for (int i = 0; i < 20'000; ++i) ports.push_back(make_port("p" + std::to_string(i)));
  bundle.models = {make_model("a", {}, ports), make_model("b", ports, {})};
  for (const Port& port : ports) {
    bundle.pipeline.data_flow.push_back({{"a", port.name}, {{"b", port.name}}});
  }
  EXPECT_NO_THROW(check(bundle));
}

}  // namespace
}  // namespace leapp
