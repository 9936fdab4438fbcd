"""An export as users run it: a process that traces and compiles once. `python cold.py BACKEND`.

Prints one JSON object: the time of each step in seconds, and that of a second export in the same
process. Drawing and validation are included; importing PyTorch is not.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import torch

sys.path.insert(0, str(Path(__file__).parent))

clock = [perf_counter()]
import leapp  # noqa: E402  (what is measured)

clock.append(perf_counter())

import pipelines  # noqa: E402


def export(backend: str, folder: str) -> dict[str, float]:
    """Trace the four-node pipeline twice and compile it."""
    step = pipelines.make("four nodes", backend)
    modules = len(sys.modules)
    with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        times = [perf_counter()]
        leapp.start("bench", save_path=folder)
        times.append(perf_counter())
        step()
        step()
        times.append(perf_counter())
        leapp.stop()
        leapp.compile_graph()
        times.append(perf_counter())
    begin, started, traced, compiled = times
    return {
        "start": started - begin,
        "two_passes": traced - started,
        "compile": compiled - traced,
        "modules": len(sys.modules) - modules,
    }


def main() -> None:
    backend = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        cold = export(backend, folder)
        warm = export(backend, folder)
    report = {"import": clock[1] - clock[0], **cold, "compile_warm": warm["compile"]}
    print("\n" + json.dumps(report))


if __name__ == "__main__":
    main()
