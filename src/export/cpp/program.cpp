#include "export/cpp/program.h"

#include <algorithm>

#include "base/check.h"

namespace leapp::cpp_export {
namespace {

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string without_parentheses(const std::string& text) {
  if (text.size() < 2 || text.front() != '(') return text;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;
  }
  return text.substr(1, text.size() - 2);
}

// Adjacent dimensions that every buffer walks through as if they were one are one loop. The sizes
// of the loops, 1 without one, each at the innermost dimension that it represents.
Shape merged_loops(const Value& value, const std::optional<std::vector<Shape>>& target) {
  Shape sizes = value.shape;
  if (!value.strides || !target) return sizes;
  std::vector<Shape> walks = *value.strides;
  walks.insert(walks.end(), target->begin(), target->end());
  std::size_t inner = sizes.size();
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    const bool joins =
        inner < sizes.size() && std::all_of(walks.begin(), walks.end(), [&](const Shape& walk) {
          return walk[i] == walk[inner] * sizes[inner];
        });
    if (joins) {
      sizes[inner] *= sizes[i];
      sizes[i] = 1;
    } else {
      inner = i;
    }
  }
  return sizes;
}

}  // namespace

std::string in_comment(const std::string& text) {
  std::string plain = text;
  std::replace_if(
      plain.begin(), plain.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f || c == '\\'; }, '?');
  return plain;
}

BufferId Program::add(Buffer buffer) {
  buffers_.push_back(std::move(buffer));
  return static_cast<BufferId>(buffers_.size()) - 1;
}

BufferId Program::add_input(DType dtype, const Shape& shape) {
  const auto is_input = [](const Buffer& each) { return each.kind == Buffer::Kind::kInput; };
  const auto number = std::count_if(buffers_.begin(), buffers_.end(), is_input);
  return add({Buffer::Kind::kInput, "in" + std::to_string(number), dtype, shape});
}

BufferId Program::add_output(DType dtype, const Shape& shape) {
  const auto is_output = [](const Buffer& each) { return each.kind == Buffer::Kind::kOutput; };
  const auto number = std::count_if(buffers_.begin(), buffers_.end(), is_output);
  return add({Buffer::Kind::kOutput, "out" + std::to_string(number), dtype, shape});
}

BufferId Program::add_scratch(DType dtype, const Shape& shape) {
  return add({Buffer::Kind::kScratch, "b" + std::to_string(buffers_.size()), dtype, shape});
}

BufferId Program::add_weight(const ir::Blob& blob, const std::string& name) {
  const std::string bytes(blob.as<char>(), blob.byte_size());
  const std::string key =
      std::string(name_of(blob.type.dtype)) + to_string(blob.type.shape) + bytes;
  const auto known = known_weights_.find(key);
  if (known != known_weights_.end()) return known->second;
  Buffer buffer{Buffer::Kind::kWeight, "w" + std::to_string(known_weights_.size()), blob.type.dtype,
                blob.type.shape, aligned(static_cast<std::int64_t>(weights_.size()))};
  buffer.comment = name;
  weights_.resize(static_cast<std::size_t>(buffer.offset));
  weights_ += bytes;
  return known_weights_[key] = add(std::move(buffer));
}

void Program::touch(BufferId id) {
  Buffer& buffer = buffers_.at(static_cast<std::size_t>(id));
  const int now = static_cast<int>(statements_.size());
  if (buffer.first < 0) buffer.first = now;
  buffer.last = now;
}

std::string Program::pointer(BufferId id) {
  touch(id);
  return buffer(id).name;
}

Value Program::read(BufferId id) {
  const Buffer& from = buffer(id);
  Value value{.dtype = from.dtype, .shape = from.shape};
  const Shape strides = contiguous_strides(from.shape);
  value.strides->push_back(strides);
  value.buffer = id;
  value.at = [this, id, strides](const Indices& index) {
    Index place;
    for (std::size_t i = 0; i < strides.size(); ++i) place = place.plus(index[i].times(strides[i]));
    return pointer(id) + "[" + place.text() + "]";
  };
  return value;
}

std::string Program::nest(const Shape& shape, int depth,
                          const std::function<std::string(const Indices&, int depth)>& body) {
  Indices index;
  std::string text;
  int inside = depth;
  for (const std::int64_t size : shape) {
    if (size == 1) {
      index.emplace_back(0);
      continue;
    }
    const std::string name = "i" + std::to_string(inside);
    text += indented(inside) + "for (Index " + name + " = 0; " + name + " < " +
            std::to_string(size) + "; ++" + name + ") {\n";
    index.push_back(Index::of(name));
    ++inside;
  }
  text += body(index, inside);
  while (inside-- > depth) text += indented(inside) + "}\n";
  return text;
}

void Program::add_statement(const std::set<std::string>& origins, const std::string& text) {
  std::string comment;
  for (const std::string& origin : origins) comment += "  // " + in_comment(origin) + "\n";
  if (origins.empty() && !origin_.empty()) comment = "  // " + in_comment(origin_) + "\n";
  statements_.push_back(comment + text);
}

std::set<std::string> Program::origins_of(std::initializer_list<Value> values) const {
  std::set<std::string> origins;
  for (const Value& value : values) origins.insert(value.origins.begin(), value.origins.end());
  if (!origin_.empty()) origins.insert(origin_);
  return origins;
}

void Program::write(const Value& given, const Value& target) {
  if (given.count() == 0) return;
  const Value value = resolved(given);
  const Shape loops = merged_loops(value, target.strides);
  const std::string text = nest(loops, 1, [&](const Indices& index, int depth) {
    return indented(depth) + target.at(index) + " = " + without_parentheses(value.at(index)) +
           ";\n";
  });
  add_statement(value.origins, text);
}

Value Program::pending(DType dtype, const Shape& shape,
                       std::function<std::string(const std::string& text, BufferId to)> call) {
  auto pending = std::make_shared<Pending>();
  pending->call = [this, origin = origin_, call = std::move(call)](
                      const std::string& text, std::set<std::string> origins, BufferId to) {
    origins.insert(origin);
    add_statement(origins, call(text, to));
  };
  pending->resolve = [this](const Value& value) { return stored(value); };
  Value value{.dtype = dtype, .shape = shape};
  value.at = [](const Indices&) { return "x"; };
  value.pending = std::move(pending);
  return value;
}

void Program::store(const Value& value, BufferId to) {
  if (value.pending) {
    value.pending->call(without_parentheses(value.at(Indices(value.shape.size()))), value.origins,
                        to);
    return;
  }
  Value target = read(to);
  if (target.shape != value.shape) target = reshaped(target, value.shape);
  write(value, target);
}

Value Program::stored(const Value& value) {
  if (value.buffer != kNoBuffer) return value;
  const BufferId to = add_scratch(value.dtype, value.shape);
  store(value, to);
  return read(to);
}

Value Program::reshaped(const Value& value, const Shape& shape) {
  if (value.shape == shape) return value;
  const auto without_ones = [](Shape each) {
    std::erase(each, 1);
    return each;
  };
  if (value.buffer == kNoBuffer && without_ones(value.shape) == without_ones(shape)) {
    Value result = value;
    for (std::int64_t i = result.rank(); i-- > 0;) {
      if (result.shape[static_cast<std::size_t>(i)] == 1) result = squeezed(result, i);
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) result = unsqueezed(result, static_cast<std::int64_t>(i));
    }
    return result;
  }
  const Value whole = stored(value);
  Value result{.dtype = value.dtype, .shape = shape};
  const Shape strides = contiguous_strides(shape);
  result.strides->push_back(strides);
  result.buffer = whole.buffer;
  result.at = [this, id = whole.buffer, strides](const Indices& index) {
    Index place;
    for (std::size_t i = 0; i < strides.size(); ++i) place = place.plus(index[i].times(strides[i]));
    return pointer(id) + "[" + place.text() + "]";
  };
  return result;
}

std::string Program::add_packed(const std::string& type, const std::vector<BufferId>& weights) {
  const std::string name = "p" + std::to_string(packed_.size());
  packed_.push_back({name, type, weights});
  return "m." + name;
}

int Program::add_error(const std::string& sentence) {
  const auto known = std::find(errors_.begin(), errors_.end(), sentence);
  if (known != errors_.end()) return static_cast<int>(known - errors_.begin()) + 1;
  errors_.push_back(sentence);
  return static_cast<int>(errors_.size());
}

// Largest first, each at the lowest address that no buffer alive at the same time uses.
void Program::plan() {
  std::vector<Buffer*> order;
  for (Buffer& buffer : buffers_) {
    if (buffer.kind == Buffer::Kind::kScratch && buffer.first >= 0) order.push_back(&buffer);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Buffer* a, const Buffer* b) { return a->bytes() > b->bytes(); });
  std::vector<const Buffer*> placed;
  for (Buffer* buffer : order) {
    std::sort(placed.begin(), placed.end(),
              [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
    buffer->offset = 0;
    for (const Buffer* other : placed) {
      if (other->last < buffer->first || buffer->last < other->first) continue;
      if (other->offset >= buffer->offset + aligned(buffer->bytes())) break;
      buffer->offset = std::max(buffer->offset, other->offset + aligned(other->bytes()));
    }
    placed.push_back(buffer);
    scratch_bytes_ = std::max(scratch_bytes_, buffer->offset + aligned(buffer->bytes()));
  }
}

}  // namespace leapp::cpp_export
