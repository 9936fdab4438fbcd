// Values of ports from recordings: those of a controller, and malformed ones.
#include "view/series.h"

#include <gmock/gmock.h>

#include <array>
#include <nlohmann/json.hpp>

#include "controller/mcap_writer.h"

namespace leapp::view {
namespace {

using nlohmann::ordered_json;

Bundle one_policy() {
  Bundle bundle;
  Model model;
  model.name = "policy";
  model.inputs.push_back({.name = "obs", .dtype = DType::kFloat32, .shape = {1, 2}});
  bundle.models.push_back(model);
  return bundle;
}

struct Message {
  std::size_t channel;
  std::string json;
};

// Returns a recording with a channel of events, one of the port policy/obs, and one that names no
// port.
ordered_json series_of(const std::vector<Message>& messages, const std::string& policy = {}) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "series.mcap";
  McapWriter writer(file);
  const std::array channels = {
      writer.add_channel("/controller", "event", {}),
      writer.add_channel("/ports/policy/obs", "port", {{"port", "policy/obs"}, {"side", "input"}}),
      writer.add_channel("/else", "else", {{"side", "input"}}),
      writer.add_channel("/policies/walk/ports/policy/obs", "port",
                         {{"port", "policy/obs"}, {"side", "input"}, {"policy", "walk"}})};
  std::uint64_t time = 1000;
  for (const Message& message : messages) {
    writer.write(channels[message.channel], time += 1000, message.json);
  }
  EXPECT_TRUE(writer.close());
  return recorded_series(file, one_policy(), policy);
}

constexpr std::size_t kEvents = 0, kPort = 1, kElse = 2, kPortOfWalk = 3;

TEST(SeriesTest, ARecordingHasTicksValuesAndEvents) {
  const ordered_json series =
      series_of({{kEvents, R"({"tick": 0, "event": "start"})"},
                 {kPort, R"({"tick": 0, "values": {"hip": 1.5, "knee": null}})"},
                 {kPort, R"({"tick": 1, "values": [2, 3]})"},
                 {kEvents, R"({"tick": 1, "event": "clamped", "port": "policy/action"})"}});
  EXPECT_EQ(series["ticks"], 2);
  EXPECT_EQ(series["events"], ordered_json({{"clamped (policy/action)", 1}, {"start", 1}}));
  const ordered_json& obs = series["ports"]["inputs/policy/obs"];
  EXPECT_EQ(obs["ticks"], ordered_json({0, 1}));
  EXPECT_EQ(obs["values"].dump(), R"([[1.5,"NaN"],[2.0,3.0]])");
}

TEST(SeriesTest, PortsAreThoseOfThePolicy) {
  const std::vector<Message> messages = {{kPort, R"({"tick": 0, "values": [1, 2]})"},
                                         {kPortOfWalk, R"({"tick": 1, "values": [3, 4]})"}};
  EXPECT_EQ(series_of(messages)["ports"]["inputs/policy/obs"]["ticks"], ordered_json({0}));
  EXPECT_EQ(series_of(messages, "walk")["ports"]["inputs/policy/obs"]["ticks"], ordered_json({1}));
}

TEST(SeriesTest, MessagesOfOtherWritersArePassedOver) {
  const ordered_json series = series_of({{kEvents, R"({"tick": 0, "event": 7, "port": []})"},
                                         {kEvents, R"({"tick": 0})"},
                                         {kElse, R"({"tick": 0, "values": [1, 2]})"},
                                         {kPort, R"({"tick": -1, "values": [1, 2]})"},
                                         {kPort, R"({"values": [1, 2]})"},
                                         {kPort, "[0]"},
                                         {kPort, "no JSON"},
                                         {kPort, R"({"tick": 0, "values": "none"})"}});
  EXPECT_EQ(series["events"], ordered_json({{"?", 2}}));
  EXPECT_EQ(series["ports"]["inputs/policy/obs"]["elements"], 0);
}

}  // namespace
}  // namespace leapp::view
