"""Run the bundle of 05_trace_from_cpp.cpp: python examples/05_trace_from_cpp.py [directory]."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import leapp


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    bundle = folder / "from_cpp" / "from_cpp.yaml"
    if not bundle.exists():
        sys.exit(f"{bundle} is missing: build/release/examples/05_trace_from_cpp writes it")
    robot = leapp.InferenceManager(bundle)
    for tick in range(3):
        sensors = np.array([[1.0, 2.0, 3.0, 4.0]], dtype=np.float32)
        action = robot.run_policy({"observe/sensors": sensors})["policy/action"]
        print(f"tick {tick}:", " ".join(f"{float(value):.4f}" for value in action[0]))


if __name__ == "__main__":
    main()
