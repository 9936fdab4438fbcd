"""The independent reference of the noise generator gives the test vectors, and normal numbers."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest
from noise_reference import draw, exponential, normal

_VECTORS = Path(__file__).parents[1] / "data" / "noise_vectors.txt"


def _bits(value: float) -> str:
    return struct.pack(">f", value).hex()


@pytest.mark.parametrize(
    "line", [line for line in _VECTORS.read_text().splitlines() if not line.startswith("#")]
)
def test_b45_the_reference_gives_the_vectors(line: str) -> None:
    distribution, seed, port, number, *bits = line.split()
    elements = draw(distribution, int(seed), int(port), int(number), len(bits))
    assert [_bits(element) for element in elements] == bits


def test_b45_normal_inverts_the_distribution_function() -> None:
    for k in [0, 1, 1000, 2**20, 5_099_320, 2**23 - 1]:
        x = normal(k << 8)
        below = math.erfc(-x / math.sqrt(2)) / 2
        assert below == pytest.approx((2 * k + 1) / 2**25, rel=1e-5)
        assert normal((2**24 - 1 - k) << 8) == -x


def test_b45_exponential_inverts_the_distribution_function() -> None:
    for k in [0, 1, 1000, 2**20, 2**23 - 1, 2**24 - 1]:
        assert exponential(k << 8) == pytest.approx(-math.log((2 * k + 1) / 2**25), rel=1e-7)
