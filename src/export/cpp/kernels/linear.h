// A linear layer with constant weights: for each row of x, y = f(W x + b).
#include "numbers.h"
#include "weights.h"

// The sum of products, with eight partial sums so that compilers may use vectors without
// reordering.
template <Index kCount, typename T, typename W>
inline T dot(const W* weight, const T* b) {
  constexpr Index kSums = 8;
  T sums[kSums] = {};
  constexpr Index kWhole = kCount - kCount % kSums;
  for (Index i = 0; i < kWhole; i += kSums) {
    for (Index lane = 0; lane < kSums; ++lane) sums[lane] += number(weight[i + lane]) * b[i + lane];
  }
  for (Index i = kWhole; i < kCount; ++i) sums[i - kWhole] += number(weight[i]) * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <typename T, Index kOut, Index kIn, typename W = T>
struct Linear {
  const W* weight;  // [kOut, kIn]
  const T* bias;    // [kOut]; null if there is no bias
  const T* scale;   // [kOut]; null if the weights have no scale

  // The weights as in the file: the bits of W.
  template <typename Stored>
  void prepare(const Stored* given_weight, const T* given_bias, const T* given_scale = nullptr) {
    static_assert(sizeof(Stored) == sizeof(W));
    weight = reinterpret_cast<const W*>(given_weight);
    bias = given_bias;
    scale = given_scale;
  }

  // f is applied to each element before it is written.
  template <Index kRows, typename F>
  void run(const T* x, T* y, F f) const {
    for (Index row = 0; row < kRows; ++row) {
      for (Index n = 0; n < kOut; ++n) {
        T sum = dot<kIn>(weight + n * kIn, x + row * kIn);
        if (scale != nullptr) sum *= scale[n];
        y[row * kOut + n] = f(bias == nullptr ? sum : sum + bias[n]);
      }
    }
  }
};

#ifdef LEAPP_VECTOR_BYTES
// With vectors, W is stored in panels of several vectors of outputs: for each input, its weights
// for all outputs of the panel. A run then reads the panels once, in order, and needs no sum across
// a vector.
template <Index kOut, Index kIn, typename W>
struct Linear<float, kOut, kIn, W> {
  static constexpr Index kPanelVectors = 8;  // enough sums to hide the latency of an addition
  static constexpr Index kPanel = kPanelVectors * kLanes;
  static constexpr Index kWholePanels = kOut / kPanel;
  static constexpr Index kGroup = kVectorsPerLoad<W>;
  static constexpr Index kLastVectors =
      (kOut % kPanel + kGroup * kLanes - 1) / (kGroup * kLanes) * kGroup;
  static constexpr Index kPadded = kWholePanels * kPanel + kLastVectors * kLanes;

  static constexpr bool kScaled = std::is_same_v<W, std::int8_t>;

  alignas(64) W panels[static_cast<std::size_t>(kPadded * kIn)];
  alignas(64) float biases[static_cast<std::size_t>(kPadded)];
  alignas(64) float scales[static_cast<std::size_t>(kScaled ? kPadded : 1)];

  // The weights as in the file: the bits of W.
  template <typename Stored>
  void prepare(const Stored* given, const float* bias,
               [[maybe_unused]] const float* scale = nullptr) {
    static_assert(sizeof(Stored) == sizeof(W));
    const W* weight = reinterpret_cast<const W*>(given);
    for (Index n = 0; n < kPadded; ++n) {
      for (Index k = 0; k < kIn; ++k) panels[place(n, k)] = n < kOut ? weight[n * kIn + k] : W{};
    }
    for (Index n = 0; n < kPadded; ++n) {
      biases[n] = bias != nullptr && n < kOut ? bias[n] : 0.0f;
      if constexpr (kScaled) scales[n] = n < kOut ? scale[n] : 0.0f;
    }
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
  // Returns the index of a packed weight: by panel, input, load, lane and vector.
  static constexpr Index place(Index n, Index k) {
    const Index first = n / kPanel * kPanel;
    const Index count = kPadded - first < kPanel ? kPadded - first : kPanel;
    const Index vector = (n - first) / kLanes;
    return first * kIn + k * count + (vector / kGroup * kLanes + n % kLanes) * kGroup +
           vector % kGroup;
  }

  // Computes all rows for the panel that begins with output n: a single row with all sums at once,
  // several rows in tiles whose sums fit into the registers.
  template <Index kRows, Index kVectors>
  void run_panel(Index n, const float* x, float* y) const {
    if constexpr (kRows == 1) {
      run_tile<1, kVectors, kVectors>(n, 0, x, y);
    } else {
      constexpr Index kTileVectors = kGroup > 2 ? kGroup : 2;
      constexpr Index kTileRows = 8 / kTileVectors;
      for (Index vector = 0; vector + kTileVectors <= kVectors; vector += kTileVectors) {
        run_rows<kRows, kTileRows, kVectors, kTileVectors>(n, vector, x, y);
      }
      if constexpr (kVectors % kTileVectors == 1) {
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
    // A tile with few sums adds every second, or fourth, product to another sum.
    constexpr Index kSums = kRows * kTileVectors;
    constexpr Index kChains = kIn % 4 == 0 && kSums <= 2 ? 4 : kIn % 2 == 0 && kSums <= 4 ? 2 : 1;
    // The processor's own prefetching ends at a page boundary.
    constexpr Index kAhead = 1024 / sizeof(W);
    Vector sums[kChains][kRows][kTileVectors] = {};
    const W* weight = panels + n * kIn + vector * kLanes;
    for (Index k = 0; k < kIn; k += kChains) {
      for (Index chain = 0; chain < kChains; ++chain) {
        for (Index v = 0; v < kTileVectors; v += kGroup) {
          if constexpr (kRows == 1) __builtin_prefetch(weight + v * kLanes + kAhead);
          Vector w[kGroup];
          unpack(weight + v * kLanes, w);
          for (Index row = 0; row < kRows; ++row) {
            for (Index i = 0; i < kGroup; ++i) {
              sums[chain][row][v + i] += w[i] * x[row * kIn + k + chain];
            }
          }
        }
        weight += kVectors * kLanes;
      }
    }
    for (Index row = 0; row < kRows; ++row) {
      for (Index v = 0; v < kTileVectors; ++v) {
        const Index first = n + (vector + v) * kLanes;
        Vector sum = sums[0][row][v];
        for (Index chain = 1; chain < kChains; ++chain) sum += sums[chain][row][v];
        if constexpr (kScaled) sum *= load(scales + first);
        store_outputs(y + row * kOut, first, sum + load(biases + first));
      }
    }
  }

  static void store_outputs(float* y, Index first, Vector sum) {
    if (first + kLanes <= kOut) {
      store(y + first, sum);
    } else if (first < kOut) {
      std::memcpy(y + first, &sum, static_cast<std::size_t>(kOut - first) * sizeof(float));
    }
  }
};
#endif
