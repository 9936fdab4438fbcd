// Reads the fields of one protobuf message, and keeps unknown ones.
//
//   each_field(in, node.unread, [&] { return text(in, field::node::kName, node.name); });
//
// Each function below reads the current field of `in` if it is the given one, and returns whether
// it was. protozero throws if the bytes end too early.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "leapp/error.h"
#include "onnx/fields.h"
#include "onnx/model.h"

namespace leapp::onnx {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

[[noreturn]] inline void damaged(const std::string& what) {
  throw Error(Code::kBadModel, what);
}

/// Calls `read(tag)` for each field. Fields that it does not read are kept unchanged.
template <typename Read>
void each_field(pbf_reader& in, std::string& unread, Read&& read) {
  data_view rest = in.data();
  while (in.next()) {
    if (!read()) {
      in.skip();
      unread.append(rest.data(), rest.size() - in.data().size());
    }
    rest = in.data();
  }
}

inline bool is(const pbf_reader& in, field::Tag tag,
               pbf_wire_type type = pbf_wire_type::length_delimited) {
  return in.tag() == tag && in.wire_type() == type;
}

/// Returns a repeated number, packed or not.
template <typename T, typename One, typename Packed>
bool numbers(pbf_reader& in, field::Tag tag, pbf_wire_type single, std::vector<T>& out, One one,
             Packed packed) {
  if (is(in, tag, single)) {
    out.push_back(static_cast<T>(one()));
    return true;
  }
  if (!is(in, tag)) return false;
  for (const auto value : packed()) out.push_back(static_cast<T>(value));
  return true;
}

inline bool int64s(pbf_reader& in, field::Tag tag, std::vector<std::int64_t>& out) {
  return numbers(
      in, tag, pbf_wire_type::varint, out, [&] { return in.get_int64(); },
      [&] { return in.get_packed_int64(); });
}

inline bool text(pbf_reader& in, field::Tag tag, std::string& out) {
  if (!is(in, tag)) return false;
  out = in.get_string();
  return true;
}

inline bool property(pbf_reader& in, field::Tag tag, Properties& out) {
  if (!is(in, tag)) return false;
  pbf_reader entry = in.get_message();
  out.emplace_back();
  std::string ignored;
  each_field(entry, ignored, [&] {
    return text(entry, field::property::kKey, out.back().first) ||
           text(entry, field::property::kValue, out.back().second);
  });
  return true;
}

}  // namespace leapp::onnx
