#include "import/rotation.h"

namespace leapp::importing {

std::string rotation_of(NodeWriter& writer, const std::string& quaternion) {
  const auto element = [&](std::int64_t i) { return writer.gather(quaternion, {i}, 1, 4); };
  const std::string w = element(0);
  const std::string x = element(1);
  const std::string y = element(2);
  const std::string z = element(3);
  const std::string one = writer.floats({1}, {1, 1});
  const std::string two = writer.floats({2}, {1, 1});
  const auto twice = [&](const std::string& a, const std::string& b) {
    return writer.op("Mul", {two, writer.op("Mul", {a, b})});
  };
  const auto diagonal = [&](const std::string& a, const std::string& b) {
    return writer.op("Sub", {one, writer.op("Add", {twice(a, a), twice(b, b)})});
  };
  const auto sum = [&](const std::string& a, const std::string& b) {
    return writer.op("Add", {a, b});
  };
  const auto difference = [&](const std::string& a, const std::string& b) {
    return writer.op("Sub", {a, b});
  };
  const std::string rows = writer.concat(
      {diagonal(y, z), difference(twice(x, y), twice(w, z)), sum(twice(x, z), twice(w, y)),
       sum(twice(x, y), twice(w, z)), diagonal(x, z), difference(twice(y, z), twice(w, x)),
       difference(twice(x, z), twice(w, y)), sum(twice(y, z), twice(w, x)), diagonal(x, y)},
      1);
  return writer.reshape(rows, {3, 3});
}

}  // namespace leapp::importing
