"""The measurements, one function per row. Runs under either LEAPP: `python tasks.py NAME`.

Each task prints one JSON object with numbers by name. Times are in seconds unless a name ends with
another unit.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import networks
import pipelines
import torch
from process_memory import anonymous, resident, watching_memory

import leapp
from leapp import annotate

#: Not the function itself, which a session would replace: it watches the clocks.
perf_counter = functools.partial(time.perf_counter)

Numbers = dict[str, Any]
TASKS: dict[str, Callable[..., Numbers]] = {}


def task(function: Callable[..., Numbers]) -> Callable[..., Numbers]:
    TASKS[function.__name__] = function
    return function


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


@contextlib.contextmanager
def session(path: Path) -> Iterator[None]:
    leapp.start("bench", save_path=str(path))
    try:
        yield
    finally:
        with contextlib.suppress(Exception):
            leapp.stop()


def timed(function: Callable[[], object]) -> float:
    began = perf_counter()
    function()
    return perf_counter() - began


def median_of(function: Callable[[], object], repeats: int) -> float:
    return statistics.median(timed(function) for _ in range(repeats))


@task
def tracing() -> Numbers:
    """Measure the first and a later traced pass of the four-node pipeline, relative to eager."""
    first, again, eager = [], [], []
    with folder() as path, torch.no_grad():
        for _ in range(7):
            step = pipelines.make("four nodes", "jit")
            for _ in range(20):  # the first runs of a module include set-up work of PyTorch
                step()
            eager.append(median_of(step, 30))
            with session(path):
                first.append(timed(step))
                again.append(median_of(step, 4))
    base = statistics.median(eager)
    return {
        "eager": base,
        "first_pass": statistics.median(first),
        "reentry": statistics.median(again),
        "first_pass_over_eager": statistics.median(first) / base,
        "reentry_over_eager": statistics.median(again) / base,
    }


def chain_of_adds(x: torch.Tensor, count: int) -> torch.Tensor:
    for _ in range(count):
        x = x + 1.0
    return x


@task
def recording(counts: str = "10,100,1000,10000,100000") -> Numbers:
    """Measure the microseconds per operator that recording adds to eager."""
    result: Numbers = {}
    with folder() as path, torch.no_grad():
        for count in (int(text) for text in counts.split(",")):
            repeats = max(1, min(30, 3000 // count))
            chain_of_adds(torch.zeros(4), min(count, 1000))
            eager = median_of(lambda n=count: chain_of_adds(torch.zeros(4), n), repeats)
            traced = []
            for _ in range(repeats):
                gc.collect()
                gc.disable()
                with session(path):
                    # The first node runs with the cold caches of a new session.
                    warm = annotate.input_tensors("warm", {"x": torch.zeros(4)})
                    annotate.output_tensors("warm", {"y": chain_of_adds(warm, 10)})
                    value = annotate.input_tensors("n", {"x": torch.zeros(4)})
                    traced.append(timed(lambda v=value, n=count: chain_of_adds(v, n)))
                gc.enable()
            result[f"us_per_op_{count}"] = (statistics.median(traced) - eager) / count * 1e6
    return result


@task
def compile_graph(pipeline: str = "four nodes", backend: str = "jit") -> Numbers:
    """Measure compile_graph of a traced pipeline with validation and without drawing."""
    times = []
    with folder() as path, torch.no_grad():
        for _ in range(5):
            step = pipelines.make(pipeline, backend)
            with session(path), contextlib.redirect_stdout(io.StringIO()):
                step()
                step()
            times.append(timed(lambda: leapp.compile_graph(visualize=False)))
    return {"compile": statistics.median(times), "compile_first": times[0]}


@task
def cold_export(backend: str = "onnx") -> Numbers:
    """Measure an export of the four-node pipeline in a new process, drawing included."""
    command = [sys.executable, str(Path(__file__).parent / "cold.py"), backend]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def layers_of(gigabytes: float) -> tuple[torch.nn.Module, torch.Tensor]:
    """Return a model of that size, and an input for it."""
    width = 4096
    count = max(1, round(gigabytes * 2**30 / (width * width * 4)))
    layers = [torch.nn.Linear(width, width, bias=False) for _ in range(count)]
    return torch.nn.Sequential(*layers).eval(), torch.randn(1, width)


@task
def export_memory(backend: str = "onnx", gigabytes: float = 1.0) -> Numbers:
    """Measure the peak memory of compile_graph with validation, in addition to the model."""
    model, x = layers_of(gigabytes)
    size = sum(p.numel() * 4 for p in model.parameters())
    seen: list[int] = []
    with folder() as path, torch.no_grad():
        with session(path):
            traced = annotate.input_tensors("n", {"x": x})
            annotate.output_tensors("n", {"y": model(traced)}, export_with=backend)
        gc.collect()
        before = anonymous()
        with watching_memory(seen), contextlib.redirect_stdout(io.StringIO()):
            leapp.compile_graph(visualize=False)
    return {"model_bytes": size, "extra_share": (max(seen) - before) / size}


@task
def memory(gigabytes: float = 1.0) -> Numbers:
    """Measure the memory while a large model is traced, relative to the model."""
    model, x = layers_of(gigabytes)
    size = sum(p.numel() * 4 for p in model.parameters())
    with folder() as path, torch.no_grad():
        model(x)
        gc.collect()
        before = resident()
        with session(path):
            traced = annotate.input_tensors("n", {"x": x})
            annotate.output_tensors("n", {"y": model(traced)}, export_with="jit")
            gc.collect()
            after = resident()
    return {
        "model_bytes": size,
        "extra_bytes": after - before,
        "extra_share": (after - before) / size,
    }


@task
def tracing_off() -> Numbers:
    """Measure an annotate call outside a session, in ns, and check that torch is unused."""
    x = torch.zeros(4)
    payload = {"x": x}
    count = 20000

    def calls() -> None:
        for _ in range(count):
            annotate.input_tensors("n", payload)

    def loop() -> None:
        for _ in range(count):
            pass

    calls()
    cost = (median_of(calls, 7) - median_of(loop, 7)) / count
    return {"ns_per_call": cost * 1e9}


@task
def export_network(name: str = "resnet18", backend: str = "onnx") -> Numbers:
    """Measure tracing and exporting one network, without validation."""
    times = []
    step = pipelines.make(name, backend)
    with folder() as path:
        for _ in range(3):
            times.append(timed(lambda: pipelines.export_step(step, path, passes=1, validate=False)))
    return {"export": min(times)}


@task
def torch_export_network(name: str = "resnet18") -> Numbers:
    """Measure torch's own ONNX exporter on the same network."""
    model, inputs = networks.build(name)
    times = []
    with folder() as path, contextlib.redirect_stdout(io.StringIO()):
        for _ in range(2):
            times.append(
                timed(
                    lambda: torch.onnx.export(
                        model, inputs, str(path / "model.onnx"), dynamo=True, verbose=False
                    )
                )
            )
    return {"export": min(times)}


def percentiles(samples: list[int]) -> Numbers:
    samples.sort()
    shares = {"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999}
    return {name: samples[int(share * (len(samples) - 1))] / 1e3 for name, share in shares.items()}


@task
def run_bundle(yaml: str, count: int = 5000) -> Numbers:
    """Measure the latency of run_policy from Python."""
    manager = leapp.InferenceManager(yaml)
    feed = manager.get_mock_input()
    for _ in range(max(20, count // 10)):
        manager.run_policy(feed)
    samples = []
    clock = time.perf_counter_ns
    for _ in range(count):
        began = clock()
        manager.run_policy(feed)
        samples.append(clock() - began)
    return percentiles(samples)


#: Runs in a separate process, in which torch is loaded but leapp is not.
FIRST_LOAD = """
import sys, time, torch
began = time.perf_counter()
import leapp
manager = leapp.InferenceManager(sys.argv[1])
manager.run_policy(manager.get_mock_input())
print("\\n", time.perf_counter() - began)
"""


@task
def load_bundle(yaml: str) -> Numbers:
    """Measure loading and the first tick: in a new process with the import, and again."""

    def load() -> None:
        manager = leapp.InferenceManager(yaml)
        manager.run_policy(manager.get_mock_input())

    command = [sys.executable, "-c", FIRST_LOAD, yaml]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]
    load()
    return {"first_ms": float(first) * 1e3, "again_ms": median_of(load, 5) * 1e3}


@task
def bundle_memory(yaml: str, small: str) -> Numbers:
    """Measure the memory of a loaded bundle in addition to its weights; the engine is already
    loaded."""
    kept = leapp.InferenceManager(small)
    kept.run_policy(kept.get_mock_input())
    weights = sum(
        path.stat().st_size
        for path in Path(yaml).parent.iterdir()
        if path.suffix in (".onnx", ".pt")
    )
    gc.collect()
    before = resident()
    manager = leapp.InferenceManager(yaml)
    manager.run_policy(manager.get_mock_input())
    gc.collect()
    return {"extra_share": (resident() - before) / weights - 1}


@task
def export_for_timing(folder: str, exporter: str) -> Numbers:
    """Write every network as ONNX into ``folder``, with LEAPP or torch itself."""
    written: list[str] = []
    for name in networks.NETWORKS:
        target = Path(folder) / f"{name}.onnx"
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            if exporter == "torch":
                model, inputs = networks.build(name)
                torch.onnx.export(model, inputs, str(target), dynamo=True, external_data=False)
            else:
                with tempfile.TemporaryDirectory() as path:
                    yaml = pipelines.export(name, "onnx", Path(path), passes=1, validate=False)
                    (yaml.parent / "net.onnx").rename(target)
            written.append(name)
    return {"written": written}


def brief(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


@task
def programs(backend: str = "jit") -> Numbers:
    """Run the test suite's policy programs: which results are right, wrong, or refused."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "python"))
    from programs import PROGRAMS, runner

    verdicts: dict[str, str] = {}
    for name, program in PROGRAMS.items():
        if backend.startswith("onnx") and program.onnx:
            continue
        with folder() as path, torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
            try:
                runner.export(program, backend, path)
            except Exception as error:
                verdicts[name] = f"refused: {brief(error)}"
                continue
            try:
                wrong = runner.mismatches(program, backend, path)
                verdicts[name] = f"wrong: {wrong[0].splitlines()[0]}" if wrong else "right"
            except Exception as error:
                verdicts[name] = f"does not run: {brief(error)}"
    return verdicts


def hold_to_one_core() -> None:
    """Let PyTorch and ONNX Runtime use one thread for every caller.

    A processor mask is not enough: ONNX Runtime sets the masks of its default pool's threads to all
    processors.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    try:
        import onnxruntime
    except ImportError:
        return
    make = onnxruntime.SessionOptions

    def one_thread() -> Any:
        options = make()
        options.intra_op_num_threads = 1
        return options

    onnxruntime.SessionOptions = one_thread


def main() -> None:
    hold_to_one_core()
    name, *arguments = sys.argv[1:]
    options: dict[str, Any] = dict(argument.split("=", 1) for argument in arguments)
    for key in ("count", "gigabytes"):
        if key in options:
            options[key] = float(options[key]) if key == "gigabytes" else int(options[key])
    report = TASKS[name](**options)
    print("\n" + json.dumps(report))


if __name__ == "__main__":
    main()
