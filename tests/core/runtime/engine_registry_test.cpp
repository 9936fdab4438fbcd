// Engines by the name of their backend.
#include <gmock/gmock.h>

#include "support.h"

namespace leapp {
namespace {

using namespace leapp::testing;

Model node_of(const std::string& backend) {
  Model model;
  model.name = "affine";
  model.backend = backend;
  return model;
}

TEST(EngineRegistryTest, UnknownBackendIsAnError) {
  EXPECT_THAT(message_of([] { load_engine(node_of("tflite"), "affine.tflite"); }),
              ::testing::AllOf(::testing::HasSubstr("tflite"), ::testing::HasSubstr("affine"),
                               ::testing::EndsWith("[LP618]")));
}

TEST(EngineRegistryTest, RegistryTakesEnginesOfTheUser) {
  EngineRegistry registry = EngineRegistry::standard();
  registry.add(
      "mine",
      [](const Model& model, const ModelFile&, const EngineOptions&) -> std::unique_ptr<Engine> {
        throw Error(Code::kUsage, "asked for " + model.name);
      });
  EXPECT_TRUE(registry.contains("mine"));
  EXPECT_FALSE(EngineRegistry::standard().contains("mine"));
  EXPECT_THAT(message_of([&] { registry.load(node_of("mine"), {.path = "x"}); }),
              ::testing::EndsWith("[LP007]"));
}

}  // namespace
}  // namespace leapp
