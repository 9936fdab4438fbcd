"""Operators of PyTorch's database that LEAPP does not export, and why.

Each of them fails with an error of LEAPP's own; none gives a wrong value.
"""

from __future__ import annotations

_VALUES_DECIDE = "the size of the result depends on the values"
_NUMBERS_DECIDE = "a tensor says where to split: its numbers are read while the operator runs"

EXPECTED: dict[str, dict[str, str]] = {
    "jit": {
        "chalf": "bundles have no half-precision complex numbers",
        "tensor_split": _NUMBERS_DECIDE,
    },
    "onnx": {
        "chalf": "bundles have no half-precision complex numbers",
        "fft.rfft2": "the output is complex, which ONNX Runtime cannot hold",
        "linalg.ldl_solve": "ONNX has no such solver",
        "nonzero": _VALUES_DECIDE,
        "svd": "the signs of the singular vectors are not defined",
        "tensor_split": _NUMBERS_DECIDE,
        "unique": _VALUES_DECIDE,
    },
}
