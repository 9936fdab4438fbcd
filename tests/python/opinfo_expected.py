"""Operators of PyTorch's database that LEAPP does not export, and why.

Each of them fails with an error of LEAPP's own; none gives a wrong value.
"""

from __future__ import annotations

EXPECTED: dict[str, dict[str, str]] = {"jit": {}, "onnx": {}}
