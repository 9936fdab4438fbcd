"""Measures LEAPP and NVIDIA's leapp in one run: `make bench`, or python benchmarks/run.py --help.

The same code measures both, each in processes of its own interpreter, alternately; a number is the
median over the rounds. The interpreter with NVIDIA's leapp is $LEAPP_PEER_PYTHON; without it only
LEAPP is measured. To create one:

    python3 -m venv .cache/peer && .cache/peer/bin/pip install torch==2.13.0 leapp==0.7.2 onnxscript
    LEAPP_PEER_PYTHON=.cache/peer/bin/python make bench
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import runtime

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
Numbers = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a table: a number of a task, for both sides."""

    label: str
    task: str
    metric: str
    unit: str
    options: dict[str, str] = dataclasses.field(default_factory=dict)
    peer_options: dict[str, str] | None = None  # None: the same
    peer_task: str | None = None
    goal: str = ""
    peer: bool = True


SECTIONS: dict[str, list[Row]] = {
    "Tracing and TorchScript": [
        Row("first traced pass of four nodes, over eager", "tracing", "first_pass_over_eager", "x",
            goal="at most 3"),
        Row("a re-entry, over eager", "tracing", "reentry_over_eager", "x", goal="at most 2"),
        *[
            Row(f"an operator while recording, {n} of them", "recording", f"us_per_op_{n}", "us",
                {"counts": "10,1000,10000,100000"}, {"counts": "10,1000,10000"},
                goal="at most 2", peer=n < 100000)
            for n in (10, 1000, 10000, 100000)
        ],
        Row("compile_graph, jit, four nodes, validated", "compile_graph", "compile", "s",
            goal="at most 1/3 of the peer's"),
        Row("memory while a 1 GB model is traced, over the model", "memory", "extra_share", "share",
            goal="at most 0.05"),
        *[
            Row(f"memory of compile_graph, {backend}, validated, over a 1 GB model",
                "export_memory",
                "extra_share", "share", {"backend": backend}, goal="at most 0.2", peer=False)
            for backend in ("onnx", "jit")
        ],
        Row("an annotate call with tracing off", "tracing_off", "ns_per_call", "ns",
            goal="under 1000"),
    ],
    "An export from a cold start": [
        Row("import leapp, after torch", "cold_export", "import", "s", goal="at most 0.05"),
        Row("start()", "cold_export", "start", "s"),
        Row("compile_graph, onnx, four nodes, validated and drawn", "cold_export", "compile", "s",
            goal="at most 0.05"),
        Row("the same by the peer's onnx-torchscript", "cold_export", "compile", "s",
            peer_options={"backend": "onnx-torchscript"}, goal="at most 1/3 of the peer's"),
        Row("compile_graph, jit", "cold_export", "compile", "s", {"backend": "jit"}),
        Row("compile_graph, onnx, a second time", "cold_export", "compile_warm", "s"),
    ],
    "ONNX export": [
        Row("compile_graph, onnx, four nodes, validated", "compile_graph", "compile", "s",
            {"backend": "onnx"}, goal="at most 0.05"),
        Row("the same by the peer's onnx-torchscript", "compile_graph", "compile", "s",
            {"backend": "onnx"}, {"backend": "onnx-torchscript"}),
        *[
            Row(f"{name}, against torch.onnx.export(dynamo=True)", "export_network", "export", "s",
                {"name": name}, peer_task="torch_export_network", goal="at least 20 times faster")
            for name in ("resnet18", "vit_tiny")
        ],
    ],
}  # fmt: skip


class Bench:
    """Runs tasks in new processes and stores their results."""

    def __init__(self, peer: str | None, rounds: int) -> None:
        self.peer, self.rounds = peer, rounds
        self.cache: dict[tuple[str, str, str], list[Numbers]] = {}

    def once(self, python: str, task: str, options: dict[str, str]) -> Numbers:
        command = [python, str(HERE / "tasks.py"), task, *(f"{k}={v}" for k, v in options.items())]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        if python == self.peer:  # variables for LEAPP must not affect the other one
            environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tempfile.gettempdir()
        )
        try:
            return dict(json.loads(done.stdout.strip().splitlines()[-1]))
        except (IndexError, ValueError):
            return {"error": (done.stderr.strip().splitlines() or ["no answer"])[-1]}

    def pair(self, row: Row) -> tuple[list[Numbers], list[Numbers]]:
        """Return the results of both sides, measured alternately."""
        sides: list[tuple[str, str, dict[str, str]]] = [(sys.executable, row.task, row.options)]
        if self.peer and row.peer:
            options = row.options if row.peer_options is None else row.peer_options
            sides.append((self.peer, row.peer_task or row.task, options))
        keys = [(python, task, json.dumps(options)) for python, task, options in sides]
        for _ in range(self.rounds):
            for key, side in zip(keys, sides, strict=True):
                answers = self.cache.setdefault(key, [])
                if len(answers) < self.rounds:
                    answers.append(self.once(*side))
        found = [self.cache[key] for key in keys]
        return found[0], found[1] if len(found) > 1 else []


def median(answers: list[Numbers], metric: str) -> float | str | None:
    values = [answer[metric] for answer in answers if metric in answer]
    if values:
        return statistics.median(values)
    return answers[0].get("error", "no answer") if answers else None


def shown(value: float | str | None, unit: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return f"fails: {value[:60]}"
    if unit == "s":
        return f"{value * 1e3:.1f} ms"
    if unit == "share":
        return f"{100 * value:.2f} %"
    suffix = {"us": " µs", "ns": " ns", "x": " times"}[unit]
    return f"{value:.2f}{suffix}" if value < 10 else f"{value:.0f}{suffix}"


def table(bench: Bench, rows: list[Row], results: list[Numbers]) -> list[str]:
    lines = ["| | peer | ours | peer / ours | goal |", "|---|---|---|---|---|"]
    for row in rows:
        ours, theirs = bench.pair(row)
        a, b = median(ours, row.metric), median(theirs, row.metric)
        ratio = b / a if isinstance(a, float) and isinstance(b, float) and a > 0 else None
        text = f"{ratio:.1f}" if ratio else "-"
        lines.append(
            f"| {row.label} | {shown(b, row.unit)} | {shown(a, row.unit)} | {text} | {row.goal} |"
        )
        print(lines[-1], flush=True)
        results.append({"label": row.label, "unit": row.unit, "ours": a, "peer": b, "ratio": ratio})
    return lines


def run_graphs(bench: Bench, results: list[Numbers]) -> list[str]:
    """Measure ONNX Runtime on our graphs and on torch's, in one process, alternately."""
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        bench.once(sys.executable, "export_for_timing", {"folder": ours, "exporter": "leapp"})
        if bench.peer:
            bench.once(bench.peer, "export_for_timing", {"folder": theirs, "exporter": "torch"})
        lines = ["| network | torch's graph | ours | ours / torch's |", "|---|---|---|---|"]
        ratios = []
        for path in sorted(Path(ours).glob("*.onnx")):
            other = Path(theirs) / path.name
            if not other.exists():
                continue
            a, b = race(path, other)
            ratios.append(a / b)
            lines.append(f"| {path.stem} | {b:.1f} µs | {a:.1f} µs | {a / b:.2f} |")
            print(lines[-1], flush=True)
            results.append({"label": f"graph {path.stem}", "ours": a, "peer": b, "unit": "us"})
    if ratios:
        mean = math.exp(statistics.mean(math.log(r) for r in ratios))
        lines.append(f"| geometric mean | | | **{mean:.2f}** (goal: at most 0.95) |")
    return lines


def race(ours: Path, theirs: Path) -> tuple[float, float]:
    """Return the median microseconds per run of two models on the same inputs."""
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    sessions = [
        ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        for path in (ours, theirs)
    ]
    rng = np.random.default_rng(0)
    feeds = [
        {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in session.get_inputs()}
        for session in sessions
    ]
    samples: list[list[int]] = [[], []]
    for number in range(400):
        for side in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter_ns()
            sessions[side].run(None, feeds[side])
            samples[side].append(time.perf_counter_ns() - began)
    return statistics.median(samples[0]) / 1e3, statistics.median(samples[1]) / 1e3


def run_programs(bench: Bench, results: list[Numbers]) -> list[str]:
    """Return which policy programs are exported correctly, incorrectly, or are refused."""
    lines = []
    for backend in ("jit", "onnx"):
        answers = {"ours": bench.once(sys.executable, "programs", {"backend": backend})}
        if bench.peer:
            answers["peer"] = bench.once(bench.peer, "programs", {"backend": backend})
        for side, verdicts in answers.items():
            kinds = [str(verdict).split(":")[0] for verdict in verdicts.values()]
            counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
            lines.append(f"- {backend}, {side}: {counts} of {len(kinds)}")
            print(lines[-1], flush=True)
            results.append({"label": f"programs {backend}", "side": side, "verdicts": verdicts})
    return lines


def machine() -> str:
    names = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    name = names[0] if names else platform.processor()
    return f"{name}, {len(names)} cores, Python {platform.python_version()}, one thread"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="sections whose title contains this")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench" / "results.json")
    parser.add_argument("--markdown", type=Path, help="also write the tables here")
    arguments = parser.parse_args()

    peer = os.environ.get("LEAPP_PEER_PYTHON")
    if not peer:
        print("The peer is not measured: LEAPP_PEER_PYTHON is not set (see --help).\n")
    bench = Bench(peer, arguments.rounds)
    results: list[Numbers] = []
    document = [f"{datetime.date.today()}, {machine()}.", ""]
    special = ("Exported graphs in ONNX Runtime", "Policy programs", "Ticks and loading")
    titles = {**SECTIONS, **dict.fromkeys(special)}
    for title, rows in titles.items():
        if arguments.only and arguments.only.lower() not in title.lower():
            continue
        print(f"\n## {title}\n", flush=True)
        if rows is not None:
            lines = table(bench, rows, results)
        elif title.startswith("Exported"):
            lines = run_graphs(bench, results)
        elif title == "Ticks and loading":
            lines = runtime.measure(bench.once, peer, arguments.rounds)
        else:
            lines = run_programs(bench, results)
        document += [f"## {title}", "", *lines, ""]
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"machine": machine(), "results": results}, indent=1))
    if arguments.markdown:
        arguments.markdown.write_text("\n".join(document))
    print(f"\nAll numbers: {arguments.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
