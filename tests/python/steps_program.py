"""The C++ programs that run pure ticks, line by line, and the comparison of their numbers."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
BUILD = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/release"))
#: Cases of a property test: LEAPP_LONG=1 (``make test-long``) runs all of them.
CASES = 10_000 if os.environ.get("LEAPP_LONG") else 1_000


@contextmanager
def running(name: str) -> Iterator[subprocess.Popen[str]]:
    """A program of the build that answers each line with a line."""
    with subprocess.Popen(
        [BUILD / "bin" / name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def ask(program: subprocess.Popen[str], line: str) -> dict[str, Any]:
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(line + "\n")
    program.stdin.flush()
    answer: dict[str, Any] = json.loads(program.stdout.readline())
    return answer


def same(a: Any, b: Any) -> bool:
    """Return whether the values are equal to the last bit: -0.0 differs from 0.0."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return bool(a == b)
