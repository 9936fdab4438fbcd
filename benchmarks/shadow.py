"""The cost of a shadow run: `python shadow.py [BACKEND]`.

Prints one JSON object, in microseconds per tick: the annotated program alone, a tick of its bundle
without merging, both in one loop (the weights of both do not fit a small cache), the program in a
shadow run, and the ratio of the last two. The variants alternate, and each figure is the median of
its turns, because the machine may be busy.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import torch

sys.path.insert(0, str(Path(__file__).parent))

import pipelines

import leapp

TURNS = 60
TICKS = 40  # short turns: what else runs disturbs few of them
WARM_UP = 20  # engines allocate in their first runs


def measure(step: Callable[[], object]) -> float:
    """Return the time of a tick, in microseconds."""
    for _ in range(WARM_UP):
        step()
    begin = perf_counter()
    for _ in range(TICKS):
        step()
    return (perf_counter() - begin) / TICKS * 1e6


def main() -> None:
    """Trace the four-node pipeline, and run it in all three ways."""
    backend = sys.argv[1] if len(sys.argv) > 1 else "onnx"
    torch.set_num_threads(1)
    program = pipelines.FourNodes(backend)
    obs = torch.randn(1, 48)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        leapp.start("bench", save_path=folder)
        for _ in range(2):
            program.step(torch.randn(1, 48))
        leapp.stop()
        leapp.compile_graph(visualize=False)
        yaml = f"{folder}/bench/bench.yaml"
        robot = leapp.InferenceManager(yaml, merge=False)
        robot.run_policy({"normalise/obs": obs})
        eager, tick, both, shadow = [], [], [], []
        for _ in range(TURNS):
            eager.append(measure(lambda: program.step(obs)))
            tick.append(measure(robot.tick))
            both.append(measure(lambda: (program.step(obs), robot.tick())))
            program.reset()
            with leapp.shadow(yaml) as run:
                shadow.append(measure(lambda: program.step(obs)))
            assert run.report().passed, str(run.report())
    figures = {
        "eager": statistics.median(eager),
        "tick": statistics.median(tick),
        "both": statistics.median(both),
        "shadow": statistics.median(shadow),
    }
    figures["ratio"] = figures["shadow"] / figures["both"]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
