"""The runtime's part of run.py: ticks from C++ and Python, loading, scaling and memory.

LEAPP exports every bundle; the peer runs the same files. `bench_tick` (tick.cpp) measures C++.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Numbers = dict[str, Any]
#: Runs a task of tasks.py with one of the interpreters: python, task, options.
Once = Callable[[str, str, dict[str, str]], Numbers]

PIPELINES = ("one node", "four nodes", "20 nodes", "GRU policy", "resnet18")
CHAINS = (1, 10, 100, 1000)


class RuntimeBench:
    """Exports the bundles into a directory and measures them."""

    def __init__(self, once: Once, peer: str | None, rounds: int, folder: Path) -> None:
        self.once, self.peer, self.rounds, self.folder = once, peer, rounds, folder

    def bundle(self, pipeline: str, backend: str) -> str:
        import pipelines

        folder = self.folder / f"{pipeline} {backend}".replace(" ", "_")
        yaml = folder / "bench" / "bench.yaml"
        if not yaml.exists():
            with contextlib.redirect_stdout(io.StringIO()):
                pipelines.export(pipeline, backend, folder)
        return str(yaml)

    def native(self, yaml: str, ticks: int) -> Numbers:
        """Return medians over the rounds of bench_tick's results."""
        program = Path(os.environ.get("LEAPP_BUILD", "build/release")) / "bin" / "bench_tick"
        answers = []
        for _ in range(self.rounds):
            done = subprocess.run(
                [str(program), yaml, "--ticks", str(ticks)],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "LEAPP_ONNXRUNTIME": onnxruntime(), "OMP_NUM_THREADS": "1"},
            )
            answers.append(json.loads(done.stdout))
        return {key: middle([answer[key] for answer in answers]) for key in answers[0]}

    def python(self, task: str, yaml: str, **options: str) -> tuple[Numbers, Numbers]:
        """Measure one bundle with both interpreters, alternately; the results of a missing one are
        empty.
        """
        sides: tuple[list[Numbers], list[Numbers]] = ([], [])
        for _ in range(self.rounds):
            for python, answers in zip((sys.executable, self.peer), sides, strict=True):
                if python:
                    answers.append(self.once(python, task, {"yaml": yaml, **options}))
        ours, theirs = (
            {key: middle([answer[key] for answer in answers]) for key in answers[0]}
            if answers
            else {}
            for answers in sides
        )
        return ours, theirs


def onnxruntime() -> str:
    """Return the library that both languages use."""
    import onnxruntime as module

    return str(next((Path(module.__file__).parent / "capi").glob("libonnxruntime.so*")))


def middle(values: list[Any]) -> Any:
    """Return the median of numbers, also of the numbers inside dictionaries."""
    if isinstance(values[0], dict):
        return {key: middle([value[key] for value in values]) for key in values[0]}
    return statistics.median(values) if isinstance(values[0], (int, float)) else values[0]


@contextlib.contextmanager
def other_cores_busy() -> Iterator[None]:
    """Keeps all processors except one busy."""
    workers = [
        multiprocessing.Process(target=spin, daemon=True)
        for _ in range(max(1, (os.cpu_count() or 2) - 1))
    ]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def spin() -> None:
    while True:
        pass


def over(a: float | None, b: float | None) -> str:
    return f"{a / b:.2f}" if a and b else "-"


def us(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def ticks(bench: RuntimeBench) -> Iterator[str]:
    yield "Median microseconds of a tick on one core, one thread for each engine. *Raw*: ONNX"
    yield "Runtime by hand, one session per node; *alone*: ONNX Runtime on the merged graph."
    yield "Goals: separate"
    yield "at most 1.05 times raw, merged at most 1.03 times alone, Python at least 3 and C++ at"
    yield "least 4 times faster than the peer."
    yield ""
    yield (
        "| bundle | raw | separate | over raw | alone | merged | over alone | Python | peer "
        "| peer / Python | peer / C++ |"
    )
    yield "|---|" + "---|" * 10
    for backend in ("onnx", "jit"):
        for pipeline in PIPELINES:
            yaml = bench.bundle(pipeline, backend)
            native = bench.native(yaml, 400 if pipeline == "resnet18" else 20000)
            ours, theirs = bench.python(
                "run_bundle", yaml, count="100" if pipeline == "resnet18" else "5000"
            )
            value = {name: numbers["p50_us"] for name, numbers in native.items()
                     if isinstance(numbers, dict)}  # fmt: skip
            best = value.get("merged", value["separate"])
            columns = [
                f"{pipeline}, {backend}",
                us(value.get("raw")),
                us(value["separate"]),
                over(value["separate"], value.get("raw")),
                us(value.get("merged_raw")),
                us(value.get("merged")),
                over(value.get("merged"), value.get("merged_raw")),
                us(ours["p50_us"]),
                us(theirs.get("p50_us")),
                over(theirs.get("p50_us"), ours["p50_us"]),
                over(theirs.get("p50_us"), best),
            ]
            yield "| " + " | ".join(columns) + " |"
    native = bench.native(bench.bundle("four nodes", "onnx"), 1000)
    yield ""
    own = native["overhead_ns_per_node"]
    yield f"LEAPP's own part of a tick is {own:.1f} ns a node (goal: at most 150)."


def steadiness(bench: RuntimeBench) -> Iterator[str]:
    yield "Four nodes, onnx, all processors but one at work."
    yield ""
    yield "| | p50 | p99.9 | p99.9 / p50 |"
    yield "|---|---|---|---|"
    yaml = bench.bundle("four nodes", "onnx")
    with other_cores_busy():
        native = bench.native(yaml, 20000)["merged"]
        ours, theirs = bench.python("run_bundle", yaml, count="20000")
    for name, numbers in (("ours, C++", native), ("ours, Python", ours), ("peer", theirs)):
        if numbers:
            columns = [us(numbers["p50_us"]), us(numbers["p999_us"])]
            ratio = over(numbers["p999_us"], numbers["p50_us"])
            yield f"| {name} | {columns[0]} µs | {columns[1]} µs | {ratio} |"


def loading(bench: RuntimeBench) -> Iterator[str]:
    yield "Milliseconds to load 20 nodes and run the first tick, which is when the peer opens its"
    yield "models (goal: at most half of the peer's). *First*: in a fresh process, with the import"
    yield "of `leapp`, but without that of torch."
    yield ""
    yield "| | ours | peer | ours / peer |"
    yield "|---|---|---|---|"
    for backend in ("onnx", "jit"):
        ours, theirs = bench.python("load_bundle", bench.bundle("20 nodes", backend))
        for key, label in (("first_ms", "first"), ("again_ms", "again")):
            a, b = ours[key], theirs.get(key)
            yield f"| {backend}, {label} | {us(a)} | {us(b)} | {over(a, b)} |"


def scaling(bench: RuntimeBench) -> Iterator[str]:
    yield "Microseconds a node. What grows is the share of weights that no longer fits the caches."
    yield ""
    yield "| nodes, onnx | load | load a node | raw | separate | alone | merged |"
    yield "|---|---|---|---|---|---|---|"
    for nodes in CHAINS:
        name = "one node" if nodes == 1 else f"{nodes} nodes"
        native = bench.native(bench.bundle(name, "onnx"), 2000 if nodes < 1000 else 500)
        contestants = ("raw", "separate", "merged_raw", "merged")
        values = [native[c]["p50_us"] / nodes if c in native else None for c in contestants]
        load = native["load_ms"]
        columns = [f"{load:.1f} ms", f"{load / nodes:.2f} ms", *map(us, values)]
        yield f"| {nodes} | " + " | ".join(columns) + " |"


def memory(bench: RuntimeBench) -> Iterator[str]:
    yield "Memory of loading in addition to the weights, in a process that has run a small"
    yield "bundle before"
    yield "(goal: at most 20 %)."
    yield ""
    yield "| 192 MB of weights in three nodes | ours | peer |"
    yield "|---|---|---|"
    for backend in ("onnx", "jit"):
        small = bench.bundle("one node", backend)
        ours, theirs = bench.python("bundle_memory", bench.bundle("wide", backend), small=small)
        shares = [f"{100 * side['extra_share']:.1f} %" if side else "-" for side in (ours, theirs)]
        yield f"| {backend} | {shares[0]} | {shares[1]} |"


PARTS = {
    "Ticks": ticks,
    "Steadiness": steadiness,
    "Loading": loading,
    "Scaling": scaling,
    "Memory": memory,
}


def measure(once: Once, peer: str | None, rounds: int) -> list[str]:
    """Return all tables of the runtime, as lines of Markdown."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = RuntimeBench(once, peer, rounds, Path(folder))
        for title, part in PARTS.items():
            print(f"\n### {title}\n", flush=True)
            lines += [f"### {title}", ""]
            for line in part(bench):
                print(line, flush=True)
                lines.append(line)
            lines.append("")
    return lines
