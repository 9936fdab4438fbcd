// Padding in all modes. Negative padding crops.
#include <algorithm>

#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

struct Pads {
  Dims before;
  Dims after;
};

/// Returns the padding with one entry per dimension; PyTorch's list starts with the last dimension.
Pads pads_of(OpContext& context, std::int64_t rank) {
  const Dims listed = context.ints(context.has("pad") ? "pad" : "padding");
  Pads pads{Dims(static_cast<std::size_t>(rank), 0), Dims(static_cast<std::size_t>(rank), 0)};
  for (std::size_t i = 0; 2 * i + 1 < listed.size(); ++i) {
    const auto dim = static_cast<std::size_t>(rank) - 1 - i;
    pads.before[dim] = listed[2 * i];
    pads.after[dim] = listed[2 * i + 1];
  }
  return pads;
}

/// Crops by negative padding, and returns the positive padding.
Value cut(Value x, Pads& pads) {
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    std::int64_t& before = pads.before[static_cast<std::size_t>(d)];
    std::int64_t& after = pads.after[static_cast<std::size_t>(d)];
    const std::int64_t start = std::max<std::int64_t>(-before, 0);
    const std::int64_t end = x.size(d) - std::max<std::int64_t>(-after, 0);
    x = slice(x, d, start, std::max(start, end));
    before = std::max<std::int64_t>(before, 0);
    after = std::max<std::int64_t>(after, 0);
  }
  return x;
}

Value convert_constant(OpContext& context) {
  const Value x = context.tensor("self");
  Pads pads = pads_of(context, x.rank());
  return pad_constant(cut(x, pads), pads.before, pads.after, context.number("value", 0.0));
}

/// The positions along one dimension from which a padded one is built.
using Positions = Dims (*)(std::int64_t size, std::int64_t before, std::int64_t after);

Dims reflected(std::int64_t size, std::int64_t before, std::int64_t after) {
  Dims from;
  for (std::int64_t i = -before; i < size + after; ++i) {
    from.push_back(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
  }
  return from;
}

Dims replicated(std::int64_t size, std::int64_t before, std::int64_t after) {
  Dims from;
  for (std::int64_t i = -before; i < size + after; ++i) {
    from.push_back(std::clamp<std::int64_t>(i, 0, size - 1));
  }
  return from;
}

Dims wrapped(std::int64_t size, std::int64_t before, std::int64_t after) {
  Dims from;
  for (std::int64_t i = -before; i < size + after; ++i) from.push_back(((i % size) + size) % size);
  return from;
}

/// Selects every dimension's elements by position: the only form for sizes and modes that the Pad
/// operator does not support.
template <typename MakePositions>
Value pick(Value x, const Pads& pads, MakePositions&& positions) {
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    const std::int64_t before = pads.before[static_cast<std::size_t>(d)];
    const std::int64_t after = pads.after[static_cast<std::size_t>(d)];
    if (before == 0 && after == 0) continue;
    x = gather(x, int_vector(x.builder(), positions(x.size(d), before, after)), d);
  }
  return x;
}

/// Crops first, because circular padding uses the rest.
Value convert_circular(OpContext& context) {
  const Value x = context.tensor("self");
  Pads pads = pads_of(context, x.rank());
  const Value rest = cut(x, pads);
  return pick(rest, pads, wrapped);
}

auto by_position(Positions positions) {
  return [positions](OpContext& context) -> Value {
    const Value x = context.tensor("self");
    Pads pads = pads_of(context, x.rank());
    // Crops the padded result, because the mode must see the original tensor.
    Pads cuts{Dims(pads.before.size(), 0), Dims(pads.after.size(), 0)};
    for (std::size_t d = 0; d < pads.before.size(); ++d) {
      cuts.before[d] = std::min<std::int64_t>(pads.before[d], 0);
      cuts.after[d] = std::min<std::int64_t>(pads.after[d], 0);
      pads.before[d] = std::max<std::int64_t>(pads.before[d], 0);
      pads.after[d] = std::max<std::int64_t>(pads.after[d], 0);
    }
    return cut(pick(x, pads, positions), cuts);
  };
}

}  // namespace

void register_padding(ConverterRegistry& registry) {
  registry.add("aten::constant_pad_nd", convert_constant);
  registry.add({"aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d"},
               by_position(reflected));
  registry.add({"aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d"},
               by_position(replicated));
  registry.add("aten::_pad_circular", convert_circular);
}

}  // namespace leapp::onnx_export
