"""An independent reference of the noise generator: docs/reference/bundle.md, rule B45.

It computes each ``fma`` with exact fractions, so it does not depend on the machine's arithmetic.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

_WORD = 0xFFFFFFFF
_CENTRE = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)
_ATANH = (1 / 11, 1 / 9, 1 / 7, 1 / 5, 1 / 3, 1.0)


def philox4x32_10(counter: list[int], key: list[int]) -> list[int]:
    """Return the four words of a counter under a key: Salmon et al., 2011."""
    (a, b, c, d), (k0, k1) = counter, key
    for _ in range(10):
        low, high = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (high >> 32) ^ b ^ k0, high & _WORD, (low >> 32) ^ d ^ k1, low & _WORD
        k0, k1 = (k0 + 0x9E3779B9) & _WORD, (k1 + 0xBB67AE85) & _WORD
    return [a, b, c, d]


def _fma(a: float, b: float, c: float) -> float:
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def _polynomial(x: float, coefficients: tuple[float, ...]) -> float:
    sum_ = coefficients[0]
    for coefficient in coefficients[1:]:
        sum_ = _fma(sum_, x, coefficient)
    return sum_


def _single(x: float) -> float:
    return struct.unpack("<f", struct.pack("<f", x))[0]


def _minus_log(x: float) -> float:
    m, e = math.frexp(x)
    if m < 0.75:
        m, e = 2 * m, e - 1
    s = (m - 1) / (m + 1)
    return -_fma(e, 0.6931471805599453, 2 * s * _polynomial(s * s, _ATANH))


def uniform(word: int) -> float:
    """Return the number in [0, 1) of a random word."""
    return (word >> 8) * 2.0**-24


def normal(word: int) -> float:
    """Return the standard normal number of a random word."""
    odd = 2 * (word >> 8) + 1
    t = odd * 2.0**-24 - 1
    w = _minus_log((2**25 - odd) * odd * 2.0**-48)
    p = _polynomial(w - 2.5, _CENTRE) if w < 5 else _polynomial(math.sqrt(w) - 3, _TAIL)
    return _single(1.4142135623730951 * t * p)


def exponential(word: int) -> float:
    """Return the exponential number of a random word."""
    return _single(_minus_log((2 * (word >> 8) + 1) * 2.0**-25))


def draw(distribution: str, seed: int, port: int, number: int, count: int) -> list[float]:
    """Return the elements of draw ``number`` of noise port ``port``."""
    of = {"uniform": uniform, "normal": normal, "exponential": exponential}[distribution]
    words: list[int] = []
    for block in range((count + 3) // 4):
        counter = [block, port, number & _WORD, number >> 32]
        words += philox4x32_10(counter, [seed & _WORD, seed >> 32])
    return [of(word) for word in words[:count]]
