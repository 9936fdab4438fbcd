"""Writes src/export/onnx/special_tables.h: polynomials that approximate special functions in ONNX.

Each piece is the Chebyshev fit of a smooth function over [-1, 1], computed with 40 digits and
written as ordinary coefficients, highest power first. Run it again only to change a fit:

    python tools/special_tables.py | clang-format > src/export/onnx/special_tables.h
"""

import sys
from collections.abc import Callable
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]

mp.mp.dps = 40
Number = Any  # a type of mpmath with arbitrary precision
Function = Callable[[Number], Number]

SQRT_PI = mp.sqrt(mp.pi)


def fit(function: Function, low: float, high: float, degree: int) -> tuple[list[Number], Number]:
    """Coefficients of `function` over [low, high] in t = 2 (x - low) / (high - low) - 1."""
    low, high = mp.mpf(low), mp.mpf(high)
    half, middle = (high - low) / 2, (high + low) / 2
    found: tuple[list[Number], Number] = mp.chebyfit(
        lambda t: function(middle + half * t), [-1, 1], degree + 1, error=True
    )
    return found


def erfcx(x: Number) -> Number:
    """The scaled complementary error function."""
    return mp.exp(x * x) * mp.erfc(x)


def erfcx_by_ratio(t: Number) -> Number:
    """erfcx(x) (1 + 2 x) at t = (x - 3) / (x + 3)."""
    if t > 1 - mp.mpf("1e-12"):
        return 2 / SQRT_PI
    x = 3 * (1 + t) / (1 - t)
    if x > 50:
        terms = sum((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(1, 12))
        return (1 + terms) / (x * SQRT_PI) * (1 + 2 * x)
    return erfcx(x) * (1 + 2 * x)


def erfinv_tail(s: Number) -> Number:
    """The inverse error function where 1 - x^2 = exp(-s^2)."""
    return mp.erfinv(mp.sqrt(-mp.expm1(-s * s)))


def normal_quantile(log_p: Number) -> Number:
    """Distance from the mean below which exp(log_p) of a normal distribution lies."""
    start = mp.sqrt(-2 * log_p)
    return mp.findroot(
        lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - log_p, start - mp.log(start) / start
    )


def even(function: Function, at_zero: Number) -> Function:
    """`function` of the square root of its argument, for functions of x^2."""
    return lambda u: at_zero if u <= 0 else function(mp.sqrt(u))


def bessel_pq(order: int, u: Number) -> tuple[Number, Number]:
    """P and Q x / 8 of Hankel's form at u = (8 / x)^2."""
    u = max(u, mp.mpf("1e-10"))
    x = 8 / mp.sqrt(u)
    angle = x - mp.pi / 4 - order * mp.pi / 2
    scale = mp.sqrt(mp.pi * x / 2)
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    p = scale * (j * mp.cos(angle) + y * mp.sin(angle))
    q = scale * (-j * mp.sin(angle) + y * mp.cos(angle))
    return p, q * x / 8


def airy_pq(u: Number) -> tuple[Number, Number]:
    """P and Q zeta of Ai(-z) at u = 1 / zeta^2."""
    u = max(u, mp.mpf("1e-10"))
    zeta = 1 / mp.sqrt(u)
    z = (zeta * 3 / 2) ** (mp.mpf(2) / 3)
    angle = zeta + mp.pi / 4
    scale = SQRT_PI * z ** mp.mpf("0.25")
    a, b = mp.airyai(-z), mp.airybi(-z)
    p = scale * (a * mp.sin(angle) + b * mp.cos(angle))
    q = scale * (-a * mp.cos(angle) + b * mp.sin(angle))
    return p, q * zeta


def airy_decay(v: Number) -> Number:
    """Ai(x) exp(zeta) 2 sqrt(pi) x^(1/4) at v = 1 / zeta."""
    if v <= mp.mpf("1e-8"):
        return mp.mpf(1)
    zeta = 1 / v
    x = (zeta * 3 / 2) ** (mp.mpf(2) / 3)
    return mp.airyai(x) * mp.exp(zeta) * 2 * SQRT_PI * x ** mp.mpf("0.25")


def scaled_i(order: int, v: Number) -> Number:
    """sqrt(x) exp(-x) I(x) at v = 8 / x."""
    if v <= mp.mpf("1e-8"):
        return 1 / mp.sqrt(2 * mp.pi)
    x = 8 / v
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)


def scaled_k(order: int, v: Number) -> Number:
    """sqrt(x) exp(x) K(x) at v = 2 / x."""
    if v <= mp.mpf("1e-8"):
        return mp.sqrt(mp.pi / 2)
    x = 2 / v
    return mp.sqrt(x) * mp.exp(x) * mp.besselk(order, x)


EULER = mp.euler
PIECES: list[tuple[str, Function, float, float, int]] = [
    ("ErfcxByRatio", erfcx_by_ratio, -1, 1, 22),
    ("ErfNear", even(lambda x: mp.erf(x) / x, 2 / SQRT_PI), 0, 9, 24),
    ("ErfinvSmall", even(lambda x: mp.erfinv(x) / x, SQRT_PI / 2), 0, 0.5, 16),
    ("ErfinvTail", erfinv_tail, 0.8, 4.2, 18),
    (
        "NdtriMiddle",
        even(lambda d: -mp.sqrt(2) * mp.erfinv(-2 * d) / d, mp.sqrt(2 * mp.pi)),
        0,
        0.17,
        16,
    ),
    ("NdtriTail", lambda s: normal_quantile(-s * s / 2), 2.1, 5, 16),
    ("NdtriFarTail", lambda s: normal_quantile(-s * s / 2), 5, 14.5, 16),
    ("I0eLow", lambda x: mp.exp(-x) * mp.besseli(0, x), 0, 4, 15),
    ("I0eMiddle", lambda x: mp.exp(-x) * mp.besseli(0, x), 4, 8, 12),
    ("I0eHigh", lambda v: scaled_i(0, v), 0, 1, 14),
    ("I1eLow", lambda x: mp.exp(-x) * mp.besseli(1, x) / x if x > 0 else mp.mpf(0.5), 0, 4, 15),
    ("I1eMiddle", lambda x: mp.exp(-x) * mp.besseli(1, x) / x, 4, 8, 12),
    ("I1eHigh", lambda v: scaled_i(1, v), 0, 1, 14),
    ("K0Low", even(lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x), -EULER), 0, 4, 9),
    ("K0High", lambda v: scaled_k(0, v), 0, 1, 16),
    (
        "K1Low",
        even(lambda x: x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)), mp.mpf(1)),
        0,
        4,
        9,
    ),
    ("K1High", lambda v: scaled_k(1, v), 0, 1, 16),
    ("J0Low", even(lambda x: mp.besselj(0, x), mp.mpf(1)), 0, 16, 12),
    ("J0Middle", even(lambda x: mp.besselj(0, x), mp.mpf(1)), 16, 64, 13),
    ("J1Low", even(lambda x: mp.besselj(1, x) / x, mp.mpf(0.5)), 0, 16, 12),
    ("J1Middle", even(lambda x: mp.besselj(1, x) / x, mp.mpf(0.5)), 16, 64, 13),
    (
        "Y0Low",
        even(
            lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x),
            2 / mp.pi * (EULER - mp.log(2)),
        ),
        0,
        16,
        12,
    ),
    (
        "Y0Middle",
        even(lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x), mp.mpf(0)),
        16,
        64,
        13,
    ),
    (
        "Y1Low",
        even(
            lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x,
            (2 * EULER - 1 - 2 * mp.log(2)) / (2 * mp.pi),
        ),
        0,
        16,
        12,
    ),
    (
        "Y1Middle",
        even(
            lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x,
            mp.mpf(0),
        ),
        16,
        64,
        13,
    ),
    ("P0", lambda u: bessel_pq(0, u)[0], 0, 1, 8),
    ("Q0", lambda u: bessel_pq(0, u)[1], 0, 1, 8),
    ("P1", lambda u: bessel_pq(1, u)[0], 0, 1, 8),
    ("Q1", lambda u: bessel_pq(1, u)[1], 0, 1, 8),
    ("AiryLow", mp.airyai, 0, 2, 15),
    ("AiryNegative", mp.airyai, -2.5, 0, 15),
    ("AiryFarNegative", mp.airyai, -5, -2.5, 15),
    ("AiryDecay", airy_decay, 0, 0.54, 16),
    ("AiryP", lambda u: airy_pq(u)[0], 0, 0.019, 8),
    ("AiryQ", lambda u: airy_pq(u)[1], 0, 0.019, 8),
]


def main() -> None:
    """Print the header; print the error of each fit to stderr."""
    print("// Made by tools/special_tables.py; do not edit.")
    print("// Coefficients of polynomials over [-1, 1], the highest power first.")
    print("#pragma once\n\n#include <array>\n\nnamespace leapp::onnx_export::tables {\n")
    for name, function, low, high, degree in PIECES:
        coefficients, error = fit(function, low, high, degree)
        print(f"{name}: error {mp.nstr(error, 3)}", file=sys.stderr)
        numbers = ", ".join(mp.nstr(c, 18) for c in coefficients)
        print(f"inline constexpr std::array k{name} = {{{numbers}}};")
    print("\n}  // namespace leapp::onnx_export::tables")


if __name__ == "__main__":
    main()
