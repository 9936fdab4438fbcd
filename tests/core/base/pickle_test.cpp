// Pickles that PyTorch writes, and malformed ones.
#include "base/pickle.h"

#include <gmock/gmock.h>

#include "leapp/error.h"

namespace leapp {
namespace {

using namespace std::string_literals;
using Kind = PickleValue::Kind;
using testing::HasSubstr;

std::string reason(const std::string& bytes) {
  try {
    const Pickle pickle(bytes);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kBadModel);
    return error.what();
  }
}

TEST(PickleTest, ReadsNumbers) {
  const Pickle pickle(
      "\x80\x02(K\xffM\xff\xffJ\xff\xff\xff\xff\x8a\x00\x8a\x02\x00\x80"
      "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7ft."s);
  std::vector<std::int64_t> numbers;
  for (const PickleValue* item : pickle.root().items) numbers.push_back(item->number);
  EXPECT_THAT(numbers, testing::ElementsAre(255, 65535, -1, 0, -32768,
                                            std::numeric_limits<std::int64_t>::max()));
}

TEST(PickleTest, ReadsObjectsCallsAndMemory) {
  // __torch__.N with the attributes {"w": call((memory,), 1.5, None, True, [2, 3])}
  const Pickle pickle(
      "\x80\x02"
      "c__torch__\nN\nq\0)\x81}(X\x01\0\0\0wctorch\nf\nr\x01\0\0\0(K\x07\x85QG\0\0\0\0\0\0\0\0N\x88"
      "](K\x02"
      "ej\x01\0\0\0tRub."s);
  const PickleValue& object = pickle.root();
  ASSERT_EQ(object.kind, Kind::kObject);
  EXPECT_EQ(object.items[0]->text, "__torch__.N");
  ASSERT_EQ(object.state->keys.size(), 1u);
  EXPECT_EQ(object.state->keys[0].first, "w");
  const PickleValue& call = *object.state->keys[0].second;
  ASSERT_EQ(call.kind, Kind::kCall);
  EXPECT_EQ(call.items[0]->text, "torch.f");
  const auto& arguments = call.items[1]->items;
  ASSERT_EQ(arguments.size(), 6u);
  EXPECT_EQ(arguments[0]->kind, Kind::kStorage);
  EXPECT_EQ(arguments[0]->items[0]->items[0]->number, 7);
  EXPECT_EQ(arguments[4]->kind, Kind::kList);
  EXPECT_EQ(arguments[4]->items[0]->number, 2);
  EXPECT_EQ(arguments[5], call.items[0]);
  EXPECT_EQ(object.depth, 7u);
}

TEST(PickleTest, AddsSingleItems) {
  const Pickle pickle(
      "}X\x01\0\0\0a]K\x01"
      "as."s);
  EXPECT_EQ(pickle.root().keys[0].second->items[0]->number, 1);
}

TEST(PickleTest, RefusesWhatPyTorchDoesNotWrite) {
  for (const char* bytes : {"",
                            "N",
                            "NN.",
                            "(N.",
                            ".",
                            "t.",
                            "a.",
                            "Na.",
                            "NNa.",
                            "e.",
                            "(e.",
                            "N(e.",
                            "s.",
                            "Ns.",
                            "NNNs.",
                            "u.",
                            "(u.",
                            "}(Nu.",
                            "b.",
                            "Nb.",
                            "NNb.",
                            "Q.",
                            "NQ.",
                            "\x85.",
                            "N\x86.",
                            "R.",
                            "N)R.",
                            "N)\x81.",
                            "q",
                            "q\1.",
                            "h\1.",
                            "j\1\1\1\1.",
                            "cmodule",
                            "cmodule\nname",
                            "X\5\1\1\1abc",
                            "K",
                            "J\1\1",
                            "\x8a\t123456789.",
                            "\x8a\x02x",
                            "G123",
                            "i.",
                            "0."}) {
    EXPECT_NE(reason(bytes), "") << bytes;
  }
  EXPECT_THAT(reason("N\xff."), HasSubstr("an instruction that PyTorch does not write, at byte 1"));
}

TEST(PickleTest, BoundsDepth) {
  const auto tuples = [](std::size_t depth) { return ")" + std::string(depth - 1, '\x85') + "."; };
  EXPECT_EQ(reason(tuples(Pickle::kMaxDepth)), "");
  EXPECT_THAT(reason(tuples(Pickle::kMaxDepth + 1)), HasSubstr("nested too deeply"));
  EXPECT_THAT(reason(std::string(500, ']') + std::string(499, 'a') + "."),
              HasSubstr("nested too deeply"));
}

TEST(PickleTest, CountsAValueInEachPlace) {
  std::string doubling = ")q\0"s;
  for (int i = 0; i < 20; ++i) doubling += "h\0\x86q\0"s;
  EXPECT_EQ(reason(doubling + "."), "");
  EXPECT_THAT(reason(doubling + "h\0\x86."s), HasSubstr("too many values"));
}

TEST(PickleTest, ChangesNoValueThatIsInAnotherOne) {
  EXPECT_THAT(reason("]q\0\x85h\0Na."s), HasSubstr("that another value already contains"));
  EXPECT_THAT(reason("]q\0h\0a."s), HasSubstr("that another value already contains"));
  EXPECT_THAT(reason("}q\0X\1\0\0\0ah\0s."s), HasSubstr("that another value already contains"));
}

}  // namespace
}  // namespace leapp
