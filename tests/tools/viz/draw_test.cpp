#include "viz/draw.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "leapp/error.h"

/// Suppresses reports of LeakSanitizer: Graphviz's font libraries never free their caches.
extern "C" LEAPP_EXPORT const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libpango\nleak:libgvplugin\nleak:libgvc\nleak:libcgraph\n"
         "leak:libcairo\nleak:libglib\nleak:libcdt\n";
}

namespace leapp {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Port port(std::string name, Shape shape = {1, 4}) {
  return {std::move(name), DType::kFloat32, std::move(shape), {}};
}

/// Returns two nodes, a wire, a state with feedback, and feedback of the action to the first node.
Bundle make_bundle() {
  Bundle bundle;
  Model pre{"pre", {port("obs", {1, 6}), port("last")}, {port("f", {1, 6})}, {}, {}, "jit", {}, {}};
  pre.inputs[0].semantics.kind = "state/joint/position";
  Model policy{"policy", {port("f", {1, 6}), port("h")}, {port("act"), port("h")}, {}, {}, {}, {},
               {}};
  bundle.models = {pre, policy};
  bundle.pipeline.data_flow = {{{"pre", "f"}, {{"policy", "f"}}}};
  bundle.pipeline.feedback_flow = {{{"policy", "act"}, {{"pre", "last"}}},
                                   {{"policy", "h"}, {{"policy", "h"}}}};
  bundle.pipeline.inputs = {{"pre", {"obs"}}};
  bundle.pipeline.outputs = {{"policy", {"act"}}};
  bundle.pipeline.configs = {{"frequency", {std::int64_t{50}}}};
  return bundle;
}

Bundle make_chain(std::size_t length) {
  Bundle bundle;
  for (std::size_t i = 0; i < length; ++i) {
    const std::string name = "n" + std::to_string(i);
    bundle.models.push_back({name, {port("x")}, {port("y")}, {}, {}, "onnx", {}, {}});
    if (i > 0) {
      bundle.pipeline.data_flow.push_back({{"n" + std::to_string(i - 1), "y"}, {{name, "x"}}});
    }
  }
  return bundle;
}

TEST(ToDot, WiresPortsAndBackendsAreThere) {
  const std::string dot = to_dot(make_bundle(), "walker");
  EXPECT_THAT(dot, StartsWith("digraph bundle {\n  graph [rankdir=LR"));
  EXPECT_THAT(dot, HasSubstr("<B>walker</B>"));
  EXPECT_THAT(dot, HasSubstr("2 nodes, 50 Hz, feedback dashed"));
  EXPECT_THAT(dot, HasSubstr("<B>obs</B>"));
  EXPECT_THAT(dot, HasSubstr("float32 [1, 6]"));
  EXPECT_THAT(dot, HasSubstr("<I>state/joint/position</I>"));
  EXPECT_THAT(dot, HasSubstr("<B>jit</B>"));
  EXPECT_THAT(dot, HasSubstr("<B>no&#160;model</B>"));
  EXPECT_THAT(dot, HasSubstr("  n0:o0:e -> n1:i0:w;\n"));
  EXPECT_THAT(dot, HasSubstr("  in0:e -> n0:i0:w [color="));
  EXPECT_THAT(dot, HasSubstr("  n1:o0:e -> out0:w [color="));
}

TEST(ToDot, FeedbackIsDashedAndStatedForwards) {
  const std::string dot = to_dot(make_bundle());
  EXPECT_THAT(dot, HasSubstr("  n0:i1:w -> n1:o0:e [dir=back, style=dashed"));
  EXPECT_THAT(dot, HasSubstr("  n1:o1:e -> n1:i1:w [constraint=false, style=dashed"));
}

TEST(ToDot, EqualBundlesGiveEqualText) {
  EXPECT_EQ(to_dot(make_bundle(), "t"), to_dot(make_bundle(), "t"));
}

TEST(ToDot, NamesAreEscapedAndCut) {
  Bundle bundle;
  bundle.models = {{"<b>&\"x\"\\", {port(" ")}, {port(std::string(60, 'x'))}, {}, {}, {}, {}, {}}};
  const std::string dot = to_dot(bundle);
  EXPECT_THAT(dot, HasSubstr("<B>&lt;b&gt;&amp;&quot;x&quot;\\</B>"));
  EXPECT_THAT(dot, HasSubstr("<B>&#160;</B>"));
  EXPECT_THAT(dot, HasSubstr("<B>" + std::string(48, 'x') + "&#8230;</B>"));
}

TEST(ToDot, AWireToNowhereIsAnError) {
  Bundle bundle = make_bundle();
  bundle.pipeline.data_flow[0].targets[0].port = "nowhere";
  try {
    to_dot(bundle);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no port 'policy/nowhere'"));
  }
}

class DrawTest : public testing::Test {
 protected:
  DrawTest() {
    std::string name = (std::filesystem::temp_directory_path() / "leapp-draw-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~DrawTest() override { std::filesystem::remove_all(folder_); }

  // Graphviz is opened at run time and may be missing. Everything else in LEAPP works without it.
  void SetUp() override {
    for (const char* name : {"libgvc.so.6", "libgvc.so.7"}) {
      if (::dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return;
    }
    GTEST_SKIP() << ::dlerror();
  }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(DrawTest, NamesAreEscapedInPictures) {
  Bundle bundle;
  bundle.models = {{"<b>&\"x\"\\", {port(" ")}, {port("y")}, {}, {}, {}, {}, {}}};
  EXPECT_THAT(to_svg(bundle), HasSubstr("&lt;b&gt;&amp;&quot;x&quot;"));
}

TEST_F(DrawTest, TheEndingChoosesTheFormat) {
  draw(make_bundle(), folder_ / "a.png");
  EXPECT_THAT(read(folder_ / "a.png"), StartsWith("\x89PNG\r\n"));
  draw(make_bundle(), folder_ / "a.svg");
  EXPECT_THAT(read(folder_ / "a.svg"), HasSubstr("<svg"));
  draw(make_bundle(), folder_ / "a.dot");
  EXPECT_EQ(read(folder_ / "a.dot"), to_dot(make_bundle()));
  try {
    draw(make_bundle(), folder_ / "a.gif");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kWrongValue);
    EXPECT_THAT(error.what(), HasSubstr("expected .png, .svg or .dot"));
  }
}

TEST_F(DrawTest, AFolderInTheWayIsAnError) {
  std::filesystem::create_directory(folder_ / "a.png");
  try {
    draw(make_bundle(), folder_ / "a.png");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
    EXPECT_THAT(error.what(), HasSubstr("could not be written"));
  }
}

TEST_F(DrawTest, AnythingGoesIntoANameThatABundleMayHold) {
  Bundle bundle;
  bundle.models = {
      {"größe 模型 🤖", {port("a.b-c d")}, {port("'\"<>&\\n%{}|")}, {}, {}, {}, {}, {}}};
  EXPECT_THAT(to_svg(bundle, "titel <x>"), HasSubstr("größe"));
}

TEST_F(DrawTest, AnEmptyBundleIsAnEmptyPicture) {
  EXPECT_THAT(to_svg(Bundle{}), HasSubstr("<svg"));
}

TEST_F(DrawTest, ALargeBundleIsRefusedAndThePictureOfTheLargestAllowedIsDrawn) {
  try {
    to_svg(make_chain(10'000));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this bundle has 10000 nodes and 9999 wires; the limit for "
                                        "pictures is 200 nodes and 1000 wires"));
  }
  EXPECT_THAT(to_svg(make_chain(kMaxDrawnModels)), HasSubstr("n199"));
}

TEST_F(DrawTest, ThreadsMayDrawAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<std::string> pictures(4);
  for (std::string& picture : pictures) {
    threads.emplace_back([&picture] { picture = to_svg(make_bundle(), "t"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& picture : pictures) EXPECT_EQ(picture, pictures[0]);
  EXPECT_THAT(pictures[0], Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace leapp
