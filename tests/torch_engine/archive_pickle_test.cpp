// Archives whose tensors exceed their memory, or that make unusual calls.
#include "torch_engine/archive_pickle.h"

#include <caffe2/serialize/inline_container.h>
#include <gmock/gmock.h>

#include <sstream>

#include "leapp/error.h"

namespace leapp {
namespace {

using namespace std::string_literals;
using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;
using testing::HasSubstr;

struct Tensor {
  std::string type = "FloatStorage";
  std::string key = "0";
  std::string elements = "K\x08";
  std::string offset = "K\x02";
  std::string sizes = "K\x02K\x03\x86";
  std::string strides = "K\x03K\x01\x86";
  std::string function = "_rebuild_tensor_v2";
};

std::string text(const std::string& value) {
  return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value;
}

std::string pickle(const Tensor& tensor) {
  return "\x80\x02"
         "ctorch._utils\n" +
         tensor.function + "\n((" + text("storage") + "ctorch\n" + tensor.type + "\n" +
         text(tensor.key) + text("cpu") + tensor.elements + "tQ" + tensor.offset + tensor.sizes +
         tensor.strides + "\x89NtR.";
}

// Returns the error for a pickle in an archive whose data/0 has eight numbers of four bytes.
std::string judge(const std::string& bytes) {
  std::ostringstream archive;
  {
    PyTorchStreamWriter writer([&](const void* data, std::size_t size) {
      archive.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
      return size;
    });
    const std::string memory(32, '\0');
    writer.writeRecord("data/0", memory.data(), memory.size());
    writer.writeRecord("data/empty", "", 0);
    writer.writeEndOfFile();
  }
  std::istringstream file(archive.str());
  PyTorchStreamReader reader(&file);
  try {
    return find_pickle_fault(reader, bytes, "data/");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kBadModel);
    return error.what();
  }
}

TEST(ArchivePickleTest, TakesTensorsThatLieInTheirMemory) {
  EXPECT_EQ(judge(pickle({})), "");
  EXPECT_EQ(judge(pickle({.sizes = "K\0K\x64\x86"s})), "");  // no elements
  EXPECT_EQ(judge(pickle({.key = "empty", .elements = "K\0"s, .sizes = "K\0K\x01\x86"s})), "");
  EXPECT_EQ(judge(pickle({.strides = "K\0K\0\x86"s})), "");  // one element for all indices
  EXPECT_EQ(judge(pickle({.type = "ComplexDoubleStorage",
                          .elements = "K\x02",
                          .offset = "K\x01",
                          .sizes = ")",
                          .strides = ")"})),
            "");
}

TEST(ArchivePickleTest, RefusesTensorsThatReachBeyondTheirMemory) {
  const char* const beyond = "a tensor reaches beyond its memory";
  const std::string huge = "\x8a\x08\0\0\0\0\0\0\0\x40"s;  // 2^62
  EXPECT_THAT(judge(pickle({.offset = "K\x03"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.offset = "J\xff\xff\xff\xff"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.sizes = "K\x02K\x04\x86"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.sizes = "K\x02J\xff\xff\xff\xff\x86"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.sizes = "K\x02\x85"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.sizes = "NN\x86"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.strides = "K\x04K\x01\x86"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.strides = "J\xff\xff\xff\xffK\x01\x86"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.strides = huge + "K\x01\x86"})), HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.sizes = "K\x05K\x05\x86", .strides = huge + huge + "\x86"})),
              HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.sizes = huge + huge + "\x86", .strides = "K\0K\0\x86"s})),
              HasSubstr(beyond));
  EXPECT_THAT(judge(pickle({.key = "empty", .elements = "K\0"s})), HasSubstr(beyond));
}

TEST(ArchivePickleTest, RefusesMemoryThatIsNotThere) {
  const char* const less = "less memory than its type and its number of elements need";
  EXPECT_THAT(judge(pickle({.elements = "K\x09"})), HasSubstr(less));
  EXPECT_THAT(judge(pickle({.type = "DoubleStorage"})), HasSubstr(less));
  EXPECT_THAT(judge(pickle({.key = "empty"})), HasSubstr(less));
  EXPECT_THAT(judge(pickle({.key = "1"})), HasSubstr("lacks the memory"));
  EXPECT_THAT(judge(pickle({.type = "NoStorage"})), HasSubstr("unknown type"));
  EXPECT_THAT(judge(pickle({.elements = "J\xff\xff\xff\xff"})), HasSubstr("not described"));
  EXPECT_THAT(judge(pickle({.elements = "N"})), HasSubstr("not described"));
  EXPECT_THAT(judge("K\x01\x85Q."), HasSubstr("not described"));
}

TEST(ArchivePickleTest, RefusesOtherCalls) {
  for (const char* function : {"_rebuild_sparse_tensor", "_rebuild_qtensor", "anything"}) {
    EXPECT_EQ(judge(pickle({.function = function})),
              "its values call 'torch._utils." + std::string(function) + "'");
  }
  EXPECT_EQ(judge("c__torch__.Color\nRED\nK\x01\x85R."), "");
  EXPECT_EQ(judge("ccollections\nOrderedDict\n)R."), "");
  EXPECT_THAT(judge("ctorch._utils\n_rebuild_tensor_v2\n)R."), HasSubstr("not described"));
}

}  // namespace
}  // namespace leapp
