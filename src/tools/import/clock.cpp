#include "import/clock.h"

#include "import/meaning.h"

namespace leapp::importing {

void add_clock(Draft& draft, const std::string& node, const Port& reader, const onnx::Model& like) {
  const auto port = [&](const char* name) {
    Port made = plain_port(name, reader.shape);
    made.dtype = reader.dtype;
    return made;
  };
  NodeWriter writer("clock", like);
  const std::string count = writer.input(port("count"));
  const auto type = static_cast<std::int64_t>(onnx::element_type_of(reader.dtype));
  const std::string one = writer.op("Cast", {writer.ints({1})}, {attribute("to", type)});
  writer.output(port("ticks"), count);
  writer.output(port("count_next"), writer.reshape(writer.op("Add", {count, one}), reader.shape));
  draft.add(std::move(writer).take());
  draft.wire({"clock", "ticks"}, {node, reader.name});
  draft.feed_back({"clock", "count_next"}, {"clock", "count"}, Tensor(reader.dtype, reader.shape));
  draft.hide({"clock", "count_next"});
}

}  // namespace leapp::importing
