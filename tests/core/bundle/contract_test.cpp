#include "leapp/contract.h"

#include <functional>
#include <limits>

#include "bundle/contract_rules.h"
#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using test::make_bundle;
using test::make_port;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Metadata text(const char* value) {
  return {std::string(value)};
}

Port port_with(const char* key, Metadata value, Shape shape = {1, 4}) {
  Port port = make_port("q", std::move(shape));
  port.semantics.extra = {{key, std::move(value)}};
  return port;
}

std::string fault_of(const char* key, Metadata value, PortSide side = PortSide::kInput) {
  const auto fault = find_contract_fault(port_with(key, std::move(value)), side);
  return fault ? to_string(fault->code) + " " + fault->key + ": " + fault->what : "";
}

/// Returns the error of check() for the example, with that key added to obs.
std::string refusal(const char* key, Metadata value) {
  Bundle bundle = make_bundle();
  bundle.models[0].inputs[0].semantics.extra = {{key, std::move(value)}};
  return error_of(ErrorKind::kValue, [&] { check(bundle); });
}

TEST(Contract, ComesBackFromTheYaml) {
  PortContract given;
  given.unit = "rad";
  given.frame = "base";
  given.quaternion = QuaternionOrder::kXyzw;
  given.limits = Limits{{-1, -2, -3, -kInf}, {4}, {0.5}, OnViolation::kStop};
  given.max_age_ms = 12.5;
  given.history = History{HistoryOrder::kNewestFirst, std::vector<double>{1, 2, 3, 4}};
  Bundle bundle = make_bundle();
  Port& port = bundle.models[0].inputs[0];
  port.semantics.element_names = ElementNames{TemporalAxis{20}, {}};
  add_contract(port.semantics, given);
  PortContract output;
  output.fallback = std::vector<double>{0.25};
  add_contract(bundle.models[1].outputs[0].semantics, output);
  const Bundle read = parse_bundle(to_yaml(bundle), "w.yaml");
  EXPECT_NO_THROW(check(read));
  EXPECT_EQ(contract_of(read.models[0].inputs[0]), given);
  EXPECT_EQ(contract_of(read.models[1].outputs[0]), output);
}

TEST(Contract, b25_WhatTheValuesAre) {
  EXPECT_EQ(fault_of("quaternion", text("wxyz")), "");
  EXPECT_EQ(fault_of("quaternion", text("zyx")),
            "B25 quaternion: expected wxyz or xyzw, found 'zyx'");
  EXPECT_THAT(find_contract_fault(port_with("quaternion", text("wxyz"), {3}))->what,
              HasSubstr("the last four elements of the last dimension, which has 3"));
  EXPECT_THAT(refusal("quaternion", text("zyx")),
              HasSubstr("[B25] models.pre.inputs[0].quaternion: expected wxyz or xyzw"));
}

TEST(Contract, b26_Limits) {
  const auto limits = [](const char* key, Metadata value) {
    return Metadata{Metadata::Map{{key, std::move(value)}}};
  };
  EXPECT_EQ(fault_of("limits", limits("lower", {-kInf})), "");
  EXPECT_EQ(fault_of("limits", limits("lower", {kNan})),
            "B26 limits: lower contains NaN, which is not a limit");
  EXPECT_EQ(fault_of("limits", limits("rate", {0.0})), "B26 limits: a rate must be positive");
  EXPECT_THAT(fault_of("limits", limits("upper", text("high"))), HasSubstr("must be a number"));
  EXPECT_THAT(fault_of("limits", limits("on_violation", text("cry"))), HasSubstr("clamp or stop"));
  EXPECT_THAT(fault_of("limits", limits("upper", {Metadata::List{{1.0}, {2.0}}})),
              HasSubstr("2 numbers, but the last dimension is 4"));
  EXPECT_THAT(fault_of("limits", {Metadata::Map{{"lower", {2.0}}, {"upper", {1.0}}}}),
              HasSubstr("lower limit of element 0 is above the upper"));
  EXPECT_THAT(refusal("limits", limits("rate", {-1.0})),
              HasSubstr("[B26] models.pre.inputs[0].limits: a rate must be positive"));
}

TEST(Contract, b27_AgesAndFallbacks) {
  EXPECT_EQ(fault_of("max_age_ms", {std::int64_t{20}}), "");
  EXPECT_EQ(fault_of("max_age_ms", {0.0}),
            "B27 max_age_ms: expected a positive number of milliseconds");
  EXPECT_EQ(fault_of("fallback", text("hold"), PortSide::kOutput), "");
  EXPECT_THAT(fault_of("fallback", {kNan}, PortSide::kOutput), HasSubstr("must be finite"));
  EXPECT_THAT(fault_of("fallback", text("hold")), HasSubstr("an input has no fallback"));
  EXPECT_THAT(fault_of("max_age_ms", {1.0}, PortSide::kOutput),
              HasSubstr("only inputs can have max_age"));
  EXPECT_THAT(refusal("max_age_ms", {-1.0}), HasSubstr("[B27] models.pre.inputs[0].max_age_ms"));
}

TEST(Contract, b28_Histories) {
  const Metadata history = {Metadata::Map{{"order", text("newest_first")}}};
  EXPECT_THAT(fault_of("history", history), HasSubstr("only an input with a TemporalAxis"));
  Port port = port_with("history", history);
  port.semantics.element_names = ElementNames{TemporalAxis{20}, {}};
  EXPECT_FALSE(find_contract_fault(port, PortSide::kInput));
  EXPECT_EQ(contract_of(port).history->start, std::nullopt);
  EXPECT_THAT(fault_of("history", {Metadata::Map{{"start", {kNan}}}}), HasSubstr("start must be"));
  EXPECT_THAT(fault_of("history", {Metadata::Map{{"order", text("up")}}}), HasSubstr("order must"));
  EXPECT_THAT(refusal("history", history), HasSubstr("[B28] models.pre.inputs[0].history"));
}

TEST(Contract, b29_TheWholePipeline) {
  Bundle bundle = make_bundle();
  Port& port = bundle.models[0].inputs[0];
  port.semantics.kind = "command/body/velocity";
  port.semantics.element_names = ElementNames{std::vector<std::string>{"x", "y", "z", "w"}};
  GraphContract given;
  given.frequency = 50;
  given.command_ranges = {{"y", -1, 1}};
  given.default_pose = {{"hip", 0.5}, {"knee", -1}};
  given.required_capabilities = {"set_gains"};
  add_contract(bundle.pipeline.configs, given);
  const Bundle read = parse_bundle(to_yaml(bundle), "w.yaml");
  EXPECT_NO_THROW(check(read));
  EXPECT_EQ(contract_of(read.pipeline), given);

  const auto refused = [&](const char* key, Metadata value) {
    Bundle other = bundle;
    other.pipeline.configs = {{key, std::move(value)}};
    return error_of(ErrorKind::kValue, [&] { check(other); });
  };
  EXPECT_THAT(refused("frequency", {0.0}),
              HasSubstr("[B29] pipeline.configs.frequency: expected a positive number"));
  EXPECT_THAT(refused("default_pose", {Metadata::Map{{"hip", {kNan}}}}),
              HasSubstr("the position of 'hip' must be a finite number"));
  EXPECT_THAT(refused("command_ranges", {Metadata::Map{{"y", {Metadata::List{{2.0}, {1.0}}}}}}),
              HasSubstr("the range of 'y' must be [least, most]"));
  const Metadata fine = {Metadata::List{{0.0}, {1.0}}};
  EXPECT_THAT(refused("command_ranges", {Metadata::Map{{"speed", fine}}}),
              HasSubstr("has an element 'speed'"));
}

TEST(Contract, b29_CapabilitiesThatIsaacLabRequires) {
  const Metadata one = {Metadata::Map{{"capability", text("write_gains")}, {"kind", text("kp")}}};
  const Metadata writes = {Metadata::Map{{"schema_version", {std::int64_t{1}}},
                                         {"requirements", {Metadata::List{one, one}}}}};
  Pipeline pipeline;
  pipeline.configs = {{"isaaclab", {Metadata::Map{{"controller_owned_writes", writes}}}}};
  EXPECT_EQ(contract_of(pipeline).required_capabilities, std::vector<std::string>{"write_gains"});
}

TEST(Contract, KeysThatHoldSomethingElseAreMetadataAsBefore) {
  Bundle bundle = make_bundle();
  bundle.models[0].inputs[0].semantics.extra = {{"unit", {std::int64_t{3}}},
                                                {"limits", {Metadata::List{{-1.5}, {1.0}}}},
                                                {"frame", {Metadata::Map{{"id", text("base")}}}}};
  bundle.pipeline.configs = {{"default_pose", text("standing")}};
  EXPECT_NO_THROW(check(bundle));
  EXPECT_THAT(contract_of(bundle.models[0].inputs[0]).not_understood,
              testing::ElementsAre("unit", "frame", "limits"));
  EXPECT_THAT(contract_of(bundle.pipeline).not_understood, testing::ElementsAre("default_pose"));
}

TEST(Contract, ExportersAreRefusedWithThePort) {
  Bundle bundle = make_bundle();
  EXPECT_NO_THROW(require_contract(bundle));
  bundle.models[1].outputs[0].semantics.extra = {{"max_age_ms", {1.0}}};
  EXPECT_EQ(error_of(ErrorKind::kValue, [&] { require_contract(bundle); }),
            "[B27] policy/action: max_age_ms: only inputs can have max_age");
}

TEST(Contract, SaysWhichPortIsWrong) {
  EXPECT_EQ(error_of(ErrorKind::kValue, [] { contract_of(port_with("max_age_ms", {-1.0})); }),
            "[B27] port 'q': max_age_ms: expected a positive number of milliseconds");
}

}  // namespace
}  // namespace leapp
