#include "bundle/merged_nodes.h"

#include "support.h"

namespace leapp {
namespace {

using test::make_model;
using test::make_port;
using ::testing::IsEmpty;
using Groups = std::vector<std::vector<std::string>>;

/// Returns a chain a -> b -> c -> d of ONNX models.
Bundle make_chain() {
  Bundle bundle;
  for (const char* name : {"a", "b", "c", "d"}) {
    Model model = make_model(name, {make_port("x")}, {make_port("y")});
    model.backend = "onnx";
    model.file = FileEntry{std::string(name) + ".onnx", "", std::string(64, '0')};
    bundle.models.push_back(std::move(model));
  }
  bundle.pipeline.data_flow = {
      {{"a", "y"}, {{"b", "x"}}}, {{"b", "y"}, {{"c", "x"}}}, {{"c", "y"}, {{"d", "x"}}}};
  bundle.pipeline.inputs = {{"a", {"x"}}};
  bundle.pipeline.outputs = {{"d", {"y"}}};
  return bundle;
}

/// Returns the code of the error about the statement.
std::string code_of(Bundle bundle, Groups merged) {
  bundle.pipeline.merged = std::move(merged);
  try {
    check(bundle);
  } catch (const Error& error) {
    return to_string(error.code());
  }
  return {};
}

TEST(MergedNodes, b43_AStatementComesBack) {
  Bundle bundle = make_chain();
  for (const Groups& merged : {Groups{{"a", "b"}, {"c", "d"}}, Groups{}}) {
    bundle.pipeline.merged = merged;
    EXPECT_EQ(parse_bundle(to_yaml(bundle), "w.yaml"), bundle);
  }
  bundle.pipeline.merged = std::nullopt;
  EXPECT_EQ(parse_bundle(to_yaml(bundle), "w.yaml").pipeline.merged, std::nullopt);
}

TEST(MergedNodes, b43_AStatementIsAListOfLists) {
  Bundle bundle = make_chain();
  bundle.pipeline.merged = Groups{{"a", "b"}};
  for (const char* other : {"merged: a", "merged: [a, b]", "merged: [[a, [b]]]"}) {
    const std::string yaml = test::replaced(to_yaml(bundle), "merged: [[a, b]]", other);
    EXPECT_THAT(test::error_of(ErrorKind::kValue, [&] { parse_bundle(yaml, "w.yaml"); }),
                ::testing::HasSubstr("[B43]"))
        << other;
  }
}

TEST(MergedNodes, b43_GroupsNameNodesOnceInTheirOrder) {
  EXPECT_EQ(code_of(make_chain(), {{"a", "b"}, {"c", "d"}}), "");
  EXPECT_EQ(code_of(make_chain(), {{"a"}}), "B43");
  EXPECT_EQ(code_of(make_chain(), {{"a", "nobody"}}), "B43");
  EXPECT_EQ(code_of(make_chain(), {{"a", "b"}, {"b", "c"}}), "B43");
  EXPECT_EQ(code_of(make_chain(), {{"a", "a"}}), "B43");
  EXPECT_EQ(code_of(make_chain(), {{"b", "a"}}), "B43");
}

TEST(MergedNodes, b43_NoOtherNodeRunsInBetween) {
  EXPECT_EQ(code_of(make_chain(), {{"a", "c"}}), "B43");
  Bundle crossed = make_chain();  // a -> b and c -> d: as groups, each waits for the other
  crossed.pipeline.data_flow.erase(crossed.pipeline.data_flow.begin() + 1);
  crossed.pipeline.inputs.push_back({"c", {"x"}});
  crossed.pipeline.outputs.push_back({"b", {"y"}});
  EXPECT_EQ(code_of(crossed, {{"a", "d"}, {"c", "b"}}), "B43");
  EXPECT_EQ(code_of(crossed, {{"a", "c"}, {"b", "d"}}), "");
}

TEST(MergedNodes, b43_NodesOfAGroupAreOfOneKind) {
  const auto with = [](const auto& change) {
    Bundle bundle = make_chain();
    change(bundle);
    return code_of(std::move(bundle), {{"a", "b"}});
  };
  EXPECT_EQ(with([](Bundle& bundle) { bundle.models[1].backend = "jit"; }), "B43");
  EXPECT_EQ(with([](Bundle& bundle) { bundle.models[1].opset_version = 17; }), "B43");
  EXPECT_EQ(with([](Bundle& bundle) {
              bundle.models[0].external_data = {{"w.data", "", std::string(64, '0')}};
            }),
            "B43");
  EXPECT_EQ(with([](Bundle& bundle) { bundle.models[0].file.reset(); }), "B43");
  EXPECT_EQ(with([](Bundle& bundle) {
              for (Model& model : bundle.models) model.backend = "cpp";
            }),
            "B43");
  EXPECT_EQ(with([](Bundle& bundle) {
              for (Model& model : bundle.models) model.backend = "jit";
            }),
            "");
}

TEST(MergedNodes, b43_NodesOfAGroupRunInTheSameTicks) {
  Bundle bundle = make_chain();
  bundle.pipeline.schedule = {{.node = "a", .every = 5}};
  EXPECT_EQ(code_of(bundle, {{"a", "b"}}), "B43");
  bundle.pipeline.schedule = {{.node = "a", .every = 5}, {.node = "b", .every = 5}};
  EXPECT_EQ(code_of(bundle, {{"a", "b"}}), "");
  bundle.pipeline.schedule = {{.node = "a", .on_change = {"x"}}, {.node = "b", .on_change = {"x"}}};
  EXPECT_EQ(code_of(bundle, {{"a", "b"}}), "B43");
}

TEST(MergedNodes, GroupsRunWithoutABreak) {
  // a -> b, c -> d; c is between a and b in the order of single nodes.
  Bundle bundle = make_chain();
  std::swap(bundle.models[1], bundle.models[2]);  // a, c, b, d
  bundle.pipeline.data_flow.erase(bundle.pipeline.data_flow.begin() + 1);
  const Wiring wiring(bundle);
  EXPECT_EQ(order_groups(wiring, {}), NodeGroups({{0}, {1}, {2}, {3}}));
  EXPECT_EQ(order_groups(wiring, {{0, 2}}), NodeGroups({{0, 2}, {1}, {3}}));
  EXPECT_EQ(order_groups(wiring, {{1, 3}}), NodeGroups({{0}, {1, 3}, {2}}));
  EXPECT_THAT(order_groups(wiring, {{0, 3}, {1, 2}}), IsEmpty());
}

}  // namespace
}  // namespace leapp
