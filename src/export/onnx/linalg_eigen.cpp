// Eigenvalues of symmetric matrices by Jacobi's rotations.
#include <algorithm>

#include "export/onnx/linalg.h"
#include "export/onnx/ops.h"

namespace leapp::onnx_export {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Rounds of a tournament: every pair of rows meets once, and the pairs of one round are disjoint.
std::vector<Pairs> tournament(std::int64_t size) {
  const std::int64_t players = size + size % 2;
  Dims circle;
  for (std::int64_t i = 0; i < players; ++i) circle.push_back(i);
  std::vector<Pairs> rounds;
  for (std::int64_t round = 0; round + 1 < players; ++round) {
    Pairs pairs;
    for (std::int64_t i = 0; i < players / 2; ++i) {
      const std::int64_t a = circle[static_cast<std::size_t>(i)];
      const std::int64_t b = circle[static_cast<std::size_t>(players - 1 - i)];
      if (a < size && b < size) pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
    rounds.push_back(pairs);
    std::rotate(circle.begin() + 1, circle.end() - 1, circle.end());
  }
  return rounds;
}

/// Constants of all rounds: the positions of the elements that determine the angles, and how
/// cosines and sines form the rotation.
struct Tables {
  Value diagonal_p;  // [rounds, pairs] flat positions
  Value diagonal_q;
  Value off_diagonal;
  Value rotation;  // [rounds, 2 * pairs + 1, size * size]
  std::int64_t pairs = 0;
  std::int64_t rounds = 0;
};

Tables tables_for(Builder& builder, std::int64_t size) {
  const std::vector<Pairs> rounds = tournament(size);
  Tables tables;
  tables.rounds = static_cast<std::int64_t>(rounds.size());
  for (const Pairs& pairs : rounds) {
    tables.pairs = std::max(tables.pairs, static_cast<std::int64_t>(pairs.size()));
  }
  Dims p;
  Dims q;
  Dims pq;
  const std::int64_t width = 2 * tables.pairs + 1;
  std::vector<double> rotation(static_cast<std::size_t>(tables.rounds * width * size * size), 0.0);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const auto at = [&](std::int64_t row, std::int64_t i, std::int64_t j) -> double& {
      return rotation[static_cast<std::size_t>(
          ((static_cast<std::int64_t>(r) * width + row) * size + i) * size + j)];
    };
    for (std::int64_t i = 0; i < size; ++i) at(width - 1, i, i) = 1.0;
    for (std::size_t k = 0; k < rounds[r].size(); ++k) {
      const auto [a, b] = rounds[r][k];
      const auto row = static_cast<std::int64_t>(k);
      p.push_back(a * size + a);
      q.push_back(b * size + b);
      pq.push_back(a * size + b);
      at(width - 1, a, a) = 0.0;
      at(width - 1, b, b) = 0.0;
      at(row, a, a) = 1.0;
      at(row, b, b) = 1.0;
      at(tables.pairs + row, a, b) = 1.0;
      at(tables.pairs + row, b, a) = -1.0;
    }
  }
  const Shape shape = {tables.rounds, tables.pairs};
  tables.diagonal_p = int_tensor(builder, p, shape);
  tables.diagonal_q = int_tensor(builder, q, shape);
  tables.off_diagonal = int_tensor(builder, pq, shape);
  tables.rotation =
      float_tensor(builder, DType::kFloat64, rotation, {tables.rounds, width, size * size});
  return tables;
}

}  // namespace

Eigen symmetric_eigen(Value a) {
  Builder& builder = a.builder();
  const std::int64_t batch = a.size(0);
  const std::int64_t size = a.size(1);
  const Value start = expand(identity(builder, size), a.shape());
  if (size < 2 || batch == 0) return {reshape(a, {batch, size}), start};
  const Tables tables = tables_for(builder, size);
  // Convergence is quadratic: after this many sweeps a double cannot improve.
  const std::int64_t sweeps = size == 2 ? 2 : 10;
  const auto rotate = [&](Value round, const std::vector<Value>& state) -> std::vector<Value> {
    const Value which = floor_mod(round, scalar_like(round, static_cast<double>(tables.rounds)));
    const Value flat = reshape(state[0], {batch, size * size});
    const auto elements = [&](Value table) { return gather(flat, gather(table, which, 0), 1); };
    const Value off = elements(tables.off_diagonal);
    const Value nothing = equal(off, 0.0);
    const Value ratio = (elements(tables.diagonal_q) - elements(tables.diagonal_p)) /
                        where(nothing, 1.0, off * 2.0);
    const Value step = reciprocal(abs(ratio) + sqrt(square(ratio) + 1.0));
    const Value tangent = where(nothing, 0.0, where(ratio < 0.0, -step, step));
    const Value cosine = reciprocal(sqrt(square(tangent) + 1.0));
    const Value one = full(builder, {DType::kFloat64, {batch, 1}}, 1);
    const Value weights = concat({cosine, cosine * tangent, one}, 1);
    const Value rotation =
        reshape(matmul(weights, gather(tables.rotation, which, 0)), {batch, size, size});
    return {matmul(transpose(rotation, 1, 2), matmul(state[0], rotation)),
            matmul(state[1], rotation)};
  };
  const std::vector<Value> done =
      builder.loop(scalar_int(builder, DType::kInt64, sweeps * tables.rounds), {a, start}, rotate);
  const Value diagonal = sum(done[0] * identity(builder, size), {2});
  const Dims count = {size};
  const Value inputs[] = {diagonal, int_vector(builder, count)};
  const std::vector<Value> sorted = builder.emit_many(
      "TopK", inputs,
      {{"axis", std::int64_t{1}}, {"largest", std::int64_t{0}}, {"sorted", std::int64_t{1}}},
      {{DType::kFloat64, {batch, size}}, {DType::kInt64, {batch, size}}});
  const Value order = expand(unsqueeze(sorted[1], 1), a.shape());
  return {sorted[0], gather_elements(done[1], order, 2)};
}

}  // namespace leapp::onnx_export
