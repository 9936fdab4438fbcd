// One step of a recurrent layer with constant weights, for one row of a batch. The hidden state is
// read and then replaced; it is also written to y.
#include "activation.h"
#include "linear.h"

template <typename T, Index kIn, Index kHidden>
struct GruCell {
  Linear<T, 3 * kHidden, kIn> input;
  Linear<T, 3 * kHidden, kHidden> hidden;
  T from_input[3 * kHidden];
  T from_hidden[3 * kHidden];

  void prepare(const T* w_ih, const T* w_hh, const T* b_ih, const T* b_hh) {
    input.prepare(w_ih, b_ih);
    hidden.prepare(w_hh, b_hh);
  }

  void step(const T* x, T* h, T* y) {
    const auto same = [](auto value) { return value; };
    input.template run<1>(x, from_input, same);
    hidden.template run<1>(h, from_hidden, same);
    for (Index i = 0; i < kHidden; ++i) {
      const T reset = sigmoid(from_input[i] + from_hidden[i]);
      const T keep = sigmoid(from_input[kHidden + i] + from_hidden[kHidden + i]);
      const T fresh = tanh(from_input[2 * kHidden + i] + reset * from_hidden[2 * kHidden + i]);
      h[i] = fresh + keep * (h[i] - fresh);
      y[i] = h[i];
    }
  }
};

template <typename T, Index kIn, Index kHidden>
struct LstmCell {
  Linear<T, 4 * kHidden, kIn> input;
  Linear<T, 4 * kHidden, kHidden> hidden;
  T from_input[4 * kHidden];
  T from_hidden[4 * kHidden];

  void prepare(const T* w_ih, const T* w_hh, const T* b_ih, const T* b_hh) {
    input.prepare(w_ih, b_ih);
    hidden.prepare(w_hh, b_hh);
  }

  void step(const T* x, T* h, T* c, T* y) {
    const auto same = [](auto value) { return value; };
    input.template run<1>(x, from_input, same);
    hidden.template run<1>(h, from_hidden, same);
    for (Index i = 0; i < kHidden; ++i) {
      const auto gate = [&](Index k) {
        return from_input[k * kHidden + i] + from_hidden[k * kHidden + i];
      };
      c[i] = sigmoid(gate(1)) * c[i] + sigmoid(gate(0)) * tanh(gate(2));
      h[i] = sigmoid(gate(3)) * tanh(c[i]);
      y[i] = h[i];
    }
  }
};
