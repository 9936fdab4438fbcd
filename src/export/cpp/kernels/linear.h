// A linear layer with constant weights: for each row of x, y = f(W x + b).
#include "numbers.h"
#include "vectors.h"

// The sum of products. Eight partial sums, so that compilers may use vectors without reordering.
template <Index kCount, typename T>
inline T dot(const T* a, const T* b) {
  constexpr Index kSums = 8;
  T sums[kSums] = {};
  constexpr Index kWhole = kCount - kCount % kSums;
  for (Index i = 0; i < kWhole; i += kSums) {
    for (Index lane = 0; lane < kSums; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (Index i = kWhole; i < kCount; ++i) sums[i - kWhole] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <typename T, Index kOut, Index kIn>
struct Linear {
  const T* weight;  // [kOut, kIn]
  const T* bias;    // [kOut]; null: none

  void prepare(const T* given_weight, const T* given_bias) {
    weight = given_weight;
    bias = given_bias;
  }

  // f is applied to each element before it is written.
  template <Index kRows, typename F>
  void run(const T* x, T* y, F f) const {
    for (Index row = 0; row < kRows; ++row) {
      for (Index n = 0; n < kOut; ++n) {
        const T sum = dot<kIn>(weight + n * kIn, x + row * kIn);
        y[row * kOut + n] = f(bias == nullptr ? sum : sum + bias[n]);
      }
    }
  }
};

#ifdef LEAPP_VECTOR_BYTES
// With vectors, W is kept in panels of several vectors of outputs: for each input in turn its weights
// to all outputs of the panel. A run then reads the panels once, in order, and needs no sum across a
// vector.
template <Index kOut, Index kIn>
struct Linear<float, kOut, kIn> {
  static constexpr Index kPanelVectors = 8;  // as many sums hide the latency of an addition
  static constexpr Index kPanel = kPanelVectors * kLanes;
  static constexpr Index kWholePanels = kOut / kPanel;
  static constexpr Index kLastVectors = (kOut % kPanel + kLanes - 1) / kLanes;
  static constexpr Index kPadded = kWholePanels * kPanel + kLastVectors * kLanes;

  alignas(64) float panels[static_cast<std::size_t>(kPadded * kIn)];
  alignas(64) float biases[static_cast<std::size_t>(kPadded)];

  void prepare(const float* weight, const float* bias) {
    float* to = panels;
    for (Index first = 0; first < kPadded; first += kPanel) {
      const Index count = kPadded - first < kPanel ? kPadded - first : kPanel;
      for (Index k = 0; k < kIn; ++k) {
        for (Index n = first; n < first + count; ++n) {
          *to++ = n < kOut ? weight[n * kIn + k] : 0.0f;
        }
      }
    }
    for (Index n = 0; n < kPadded; ++n) biases[n] = bias != nullptr && n < kOut ? bias[n] : 0.0f;
  }

  // f is applied to each element before it is written.
  template <Index kRows, typename F>
  void run(const float* x, float* y, F f) const {
    for (Index panel = 0; panel < kWholePanels; ++panel) {
      run_panel<kRows, kPanelVectors>(panel * kPanel, x, y);
    }
    if constexpr (kLastVectors > 0) run_panel<kRows, kLastVectors>(kWholePanels * kPanel, x, y);
    for (Index i = 0; i < kRows * kOut; ++i) y[i] = f(y[i]);
  }

 private:
  // All rows by the panel that begins with output n: one row by the whole of it, several in tiles
  // whose sums fit the registers.
  template <Index kRows, Index kVectors>
  void run_panel(Index n, const float* x, float* y) const {
    if constexpr (kRows == 1) {
      run_tile<1, kVectors, kVectors>(n, 0, x, y);
    } else {
      constexpr Index kTileRows = 4;
      for (Index vector = 0; vector + 2 <= kVectors; vector += 2) {
        run_rows<kRows, kTileRows, kVectors, 2>(n, vector, x, y);
      }
      if constexpr (kVectors % 2 == 1) {
        run_rows<kRows, kTileRows, kVectors, 1>(n, kVectors - 1, x, y);
      }
    }
  }

  template <Index kRows, Index kTileRows, Index kVectors, Index kTileVectors>
  void run_rows(Index n, Index vector, const float* x, float* y) const {
    Index row = 0;
    for (; row + kTileRows <= kRows; row += kTileRows) {
      run_tile<kTileRows, kVectors, kTileVectors>(n, vector, x + row * kIn, y + row * kOut);
    }
    if constexpr (kRows % kTileRows != 0) {
      run_tile<kRows % kTileRows, kVectors, kTileVectors>(n, vector, x + row * kIn, y + row * kOut);
    }
  }

  template <Index kRows, Index kVectors, Index kTileVectors>
  void run_tile(Index n, Index vector, const float* x, float* y) const {
    // A tile of few sums takes every second, or fourth, product to another sum.
    constexpr Index kSums = kRows * kTileVectors;
    constexpr Index kChains = kIn % 4 == 0 && kSums <= 2 ? 4 : kIn % 2 == 0 && kSums <= 4 ? 2 : 1;
    constexpr Index kAhead = 256;  // floats; the processor's own prefetching ends with the page
    Vector sums[kChains][kRows][kTileVectors] = {};
    const float* weight = panels + n * kIn + vector * kLanes;
    for (Index k = 0; k < kIn; k += kChains) {
      for (Index chain = 0; chain < kChains; ++chain) {
        for (Index v = 0; v < kTileVectors; ++v) {
          if constexpr (kRows == 1) __builtin_prefetch(weight + v * kLanes + kAhead);
          const Vector w = load(weight + v * kLanes);
          for (Index row = 0; row < kRows; ++row) {
            sums[chain][row][v] += w * x[row * kIn + k + chain];
          }
        }
        weight += kVectors * kLanes;
      }
    }
    for (Index row = 0; row < kRows; ++row) {
      for (Index v = 0; v < kTileVectors; ++v) {
        const Index first = n + (vector + v) * kLanes;
        Vector sum = load(biases + first);
        for (Index chain = 0; chain < kChains; ++chain) sum += sums[chain][row][v];
        store_outputs(y + row * kOut, first, sum);
      }
    }
  }

  static void store_outputs(float* y, Index first, Vector sum) {
    if (first + kLanes <= kOut) {
      store(y + first, sum);
    } else {
      std::memcpy(y + first, &sum, static_cast<std::size_t>(kOut - first) * sizeof(float));
    }
  }
};
#endif
