// The ROS 2 package with stand-ins for ROS: its additions to a LifecycleController.
#include "../../../integrations/ros2/leapp_ros2_control/src/leapp_controller.cpp"
#include "../runtime/test_bundle.h"

namespace leapp_ros2_control {
namespace {

using namespace leapp::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Message = std_msgs::msg::Float64MultiArray;

/// Acts as the controller manager: passes handles in a different order.
class ManagedController : public LeappController {
 public:
  void lend(std::vector<controller_interface::LoanedInterface> states,
            std::vector<controller_interface::LoanedInterface> commands) {
    state_interfaces_ = std::move(states);
    command_interfaces_ = std::move(commands);
  }
  double command(std::size_t index) const { return *command_interfaces_[index].value; }
};

class Ros2Test : public ::testing::Test {
 protected:
  Ros2Test() {
    find_libraries();
    leapp::Port a = port("a");
    leapp::Port b = port("b");
    leapp::Port y = port("y");
    const std::vector<std::string> names = {"j", "k", "l", "m"};
    for (leapp::Port* const each : {&a, &b, &y}) {
      each->semantics.element_names = leapp::ElementNames{names};
    }
    a.semantics.kind = "state/joint/position";
    b.semantics.kind = "command/joint/position";
    y.semantics.kind = "target/joint/position";
    // y = clip(a + b, -1, 1)
    bundle.node("pi", "clamp_sum.onnx", {a, b}, {y}).input("pi/a").input("pi/b").output("pi/y");
    bundle.bundle().pipeline.configs = {{"frequency", {std::int64_t{50}}}};
    std::ofstream(bundle.folder() / "robot.yaml")
        << "rate: 50\njoints: [j, k, l, m]\n"
           "sensors:\n  q: {kind: state/joint/position}\n"
           "  wish: {kind: command/joint/position}\n"
           "actuators: {target: {kind: target/joint/position}}\n";
    EXPECT_EQ(controller.on_init(), CallbackReturn::SUCCESS);
    auto& parameters = controller.get_node()->parameters;
    parameters["bundle"] = bundle.write().string();
    parameters["robot"] = (bundle.folder() / "robot.yaml").string();
    parameters["worker"] = false;
    parameters["blend_in"] = 0.0;
  }

  void send(std::vector<double> values) {
    const auto& all = controller.get_node()->subscriptions;
    std::static_pointer_cast<rclcpp::Subscription<Message>>(all.at("~/wish"))
        ->callback(Message{std::move(values)});
  }

  TestBundle bundle;
  ManagedController controller;
};

TEST_F(Ros2Test, RunsThroughItsLife) {
  ASSERT_EQ(controller.on_configure({}), CallbackReturn::SUCCESS);
  EXPECT_THAT(controller.state_interface_configuration().names,
              ElementsAre("j/position", "k/position", "l/position", "m/position"));
  EXPECT_EQ(controller.command_interface_configuration().names.size(), 4U);
  // The last joint first, which a controller manager may do.
  controller.lend(
      {{"m/position", 0.4}, {"j/position", 0.1}, {"k/position", 0.2}, {"l/position", 0.3}},
      {{"m/position", 9}, {"j/position", 9}, {"k/position", 9}, {"l/position", 9}});
  ASSERT_EQ(controller.on_activate({}), CallbackReturn::SUCCESS);
  EXPECT_EQ(controller.update({}, {}), return_type::OK);
  EXPECT_EQ(controller.command(0), 9);  // no command yet: nothing moves
  send({0.5, 0.5, 0.5, 5});
  controller.update({}, {});
  EXPECT_NEAR(controller.command(1), 0.6, 1e-6);
  EXPECT_NEAR(controller.command(0), 1, 1e-6);
  EXPECT_EQ(controller.on_deactivate({}), CallbackReturn::SUCCESS);
}

TEST_F(Ros2Test, BlendInIsANumberOfSeconds) {
  for (const double seconds : {-1.0, std::nan(""), HUGE_VAL, 1e300}) {
    controller.get_node()->parameters["blend_in"] = seconds;
    EXPECT_EQ(controller.on_configure({}), CallbackReturn::ERROR) << seconds;
    EXPECT_THAT(controller.get_node()->lines.back(), HasSubstr("blend_in is"));
  }
}

TEST_F(Ros2Test, SaysWhatIsWrong) {
  controller.get_node()->parameters["bundle"] = std::string("/nowhere.yaml");
  EXPECT_EQ(controller.on_configure({}), CallbackReturn::ERROR);
  EXPECT_THAT(controller.get_node()->lines, ElementsAre(HasSubstr("was not found")));
  controller.get_node()->parameters["bundle"] = bundle.write().string();
  ASSERT_EQ(controller.on_configure({}), CallbackReturn::SUCCESS);
  controller.lend({}, {});
  EXPECT_EQ(controller.on_activate({}), CallbackReturn::ERROR);
  EXPECT_THAT(controller.get_node()->lines.back(),
              HasSubstr("the hardware has no interface j/position"));
  send({1});
  EXPECT_THAT(controller.get_node()->lines.back(), HasSubstr("wish: got 1 values"));
}

}  // namespace
}  // namespace leapp_ros2_control
