// Ports by their names, and the errors for names that no port has.
#include "runtime/port_names.h"

#include <gmock/gmock.h>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using namespace leapp::testing;

TEST_F(InferenceManagerTest, SetInputValueSaysWhatCannotBeSet) {
  add_policy(test);
  InferenceManager manager(test.write());
  const Tensor value = row({0, 0, 0, 0});
  EXPECT_THAT(
      message_of([&] { manager.set_input_value("policy", "x", value.view()); }),
      ::testing::AllOf(::testing::HasSubstr("policy/x"), ::testing::HasSubstr("pre/x"),
                       ::testing::HasSubstr("policy/h_in"), ::testing::EndsWith("[LP601]")));
  EXPECT_THAT(message_of([&] { manager.set_input_value("policy", "z", value.view()); }),
              ::testing::AllOf(::testing::HasSubstr("policy"), ::testing::HasSubstr("z"),
                               ::testing::EndsWith("[LP601]")));
  EXPECT_THAT(message_of([&] { manager.set_input_value("nobody", "z", value.view()); }),
              ::testing::AllOf(::testing::HasSubstr("nobody"), ::testing::EndsWith("[LP601]")));
  EXPECT_THAT(message_of([&] {
                manager.set_input_value("policy", "h", Tensor(DType::kFloat32, {4}).view());
              }),
              ::testing::AllOf(::testing::HasSubstr("policy/h"), ::testing::EndsWith("[LP603]")));
}

TEST_F(InferenceManagerTest, UnknownPortsListWhatThereIs) {
  add_policy(test);
  InferenceManager manager(test.write());
  EXPECT_THAT(message_of([&] { manager.input_port("pre/y"); }),
              ::testing::AllOf(::testing::HasSubstr("pre/y"), ::testing::HasSubstr("pre/x"),
                               ::testing::EndsWith("[LP601]")));
  EXPECT_THAT(message_of([&] { manager.output_port("pre/x"); }),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::HasSubstr("post/y"),
                               ::testing::EndsWith("[LP601]")));
  EXPECT_THAT(message_of([&] { manager.value("policy", "z"); }),
              ::testing::AllOf(::testing::HasSubstr("policy"), ::testing::HasSubstr("z"),
                               ::testing::EndsWith("[LP601]")));
}

}  // namespace
}  // namespace leapp
