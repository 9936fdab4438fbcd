"""C++ nodes and other engines, on one core: ``python benchmarks/cpp.py [--others]``.

Prints the tables of docs/explanation/benchmarks.md. Every policy is exported twice, as ONNX and as
C++, and ``bench_cpp`` (cpp.cpp) runs the ticks of both alternately. ``--others`` adds OpenVINO,
ExecuTorch (XNNPACK) and AOTInductor if they are installed; that table calls them all from Python.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import networks
import numpy as np
import pipelines
import torch
from runtime import onnxruntime, other_cores_busy, over, us
from torch import Tensor, nn

import leapp
from leapp import annotate

BUILD = Path(os.environ.get("LEAPP_BUILD", "build/release"))
Run = Callable[[], object]


class Recurrent(nn.Module):
    """A cell followed by a small network; the state is an input and an output."""

    def __init__(self, cell: nn.Module) -> None:
        super().__init__()
        self.cell, self.head = cell, networks.mlp(128, 64, 12)

    def forward(self, obs: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        after = self.cell(obs, state if len(state) > 1 else state[0])
        after = after if isinstance(after, tuple) else (after,)
        return (self.head(after[0]), *after)


class History(nn.Module):
    """A small transformer over the last 16 observations."""

    def __init__(self) -> None:
        super().__init__()
        self.inward = nn.Linear(48, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, 12)

    def forward(self, history: Tensor) -> tuple[Tensor]:
        return (self.head(self.encoder(self.inward(history))[:, -1]),)


class Plain(nn.Module):
    """A network with one output."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Tensor) -> tuple[Tensor]:
        return (self.net(obs),)


def policies() -> dict[str, tuple[nn.Module, list[Tensor]]]:
    torch.manual_seed(0)
    obs, hidden = torch.linspace(-1, 1, 48).unsqueeze(0), torch.zeros(1, 128)
    return {
        "MLP 48-512-256-128-12": (Plain(networks.mlp(48, 512, 256, 128, 12)), [obs]),
        "GRU 48-128": (Recurrent(nn.GRUCell(48, 128)), [obs, hidden]),
        "LSTM 48-128": (Recurrent(nn.LSTMCell(48, 128)), [obs, hidden, hidden]),
        "transformer, 16 steps": (History(), [torch.randn(1, 16, 48)]),
    }


def export(model: nn.Module, inputs: list[Tensor], backend: str, folder: Path) -> Path:
    """Trace one node; its state is fed back."""
    state = inputs[1:]

    def step() -> None:
        nonlocal state
        named = {"obs": inputs[0], **{f"state{i}": value for i, value in enumerate(state)}}
        traced = annotate.input_tensors("policy", named)
        action, *after = model(*(traced if state else [traced]))
        outputs = {"action": action, **{f"after{i}": value for i, value in enumerate(after)}}
        traced = annotate.output_tensors("policy", outputs, export_with=backend)
        state = list(traced[1:]) if state else []

    return pipelines.export_step(step, folder, validate=False)


def bundles(name: str, folder: Path) -> tuple[Path, Path]:
    """Export the policy as ONNX and as C++, and compile the latter."""
    pair = []
    for backend in ("onnx", "cpp"):
        target = folder / f"{name} {backend}".replace(" ", "_").replace(",", "")
        if name == "four nodes":
            pair.append(pipelines.export(name, backend, target))
        else:
            pair.append(export(*policies()[name], backend, target))
    subprocess.run([BUILD / "bin" / "leapp", "build", pair[1]], check=True, stdout=sys.stderr)
    return pair[0], pair[1]


def native(pair: tuple[Path, Path], ticks: int) -> dict[str, dict[str, float]]:
    environment = {**os.environ, "LEAPP_ONNXRUNTIME": onnxruntime(), "OMP_NUM_THREADS": "1"}
    command = [BUILD / "bin" / "bench_cpp", *pair, "--ticks", str(ticks)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    answer: dict[str, dict[str, float]] = json.loads(done.stdout)
    return answer


def table_of_ticks(folder: Path, ticks: int) -> None:
    print("| policy | ONNX Runtime | C++ | C++ / ONNX Runtime | goal |")
    print("|---|---|---|---|---|")
    goals = dict(zip([*policies(), "four nodes"], (0.65, 0.6, 0.6, 1.0, 0.7), strict=True))
    for name, goal in goals.items():
        found = native(bundles(name, folder), ticks)
        onnx, cpp = found["onnx"]["p50_us"], found["cpp"]["p50_us"]
        print(f"| {name} | {us(onnx)} µs | {us(cpp)} µs | {over(cpp, onnx)} | {goal} |", flush=True)
    pair = bundles("MLP 48-512-256-128-12", folder / "busy")
    with other_cores_busy():
        cpp_alone = native(pair, ticks)["cpp"]
    print(f"\nWith busy cores the MLP takes {us(cpp_alone['p50_us'])} µs, p99.9 "
          f"{us(cpp_alone['p999_us'])} µs: {over(cpp_alone['p999_us'], cpp_alone['p50_us'])} times "
          "(goal: 1.5).")  # fmt: skip


def table_of_others(folder: Path, rounds: int) -> None:
    contestants: dict[str, Callable[[nn.Module, list[Tensor], Path, Path], Run]] = {
        "C++": by_cpp,
        "ONNX Runtime": by_onnxruntime,
        "OpenVINO": by_openvino,
        "ExecuTorch": by_executorch,
        "AOTInductor": by_aotinductor,
    }
    print("| policy, from Python | " + " | ".join(contestants) + " |")
    print("|---|" + "---|" * len(contestants))
    for name, (model, inputs) in policies().items():
        model = model.eval()
        pair = bundles(name, folder / "others")
        runs: dict[str, Run] = {}
        for contestant, make in contestants.items():
            try:
                runs[contestant] = make(model, inputs, *pair)
            except Exception as error:
                print(f"{contestant} on {name}: {str(error)[:200]}", file=sys.stderr)
        took: dict[str, list[float]] = {contestant: [] for contestant in runs}
        for _ in range(rounds):
            for contestant, run in runs.items():
                for _ in range(50):
                    begin = time.perf_counter()
                    run()
                    took[contestant].append((time.perf_counter() - begin) * 1e6)
        cells = [us(statistics.median(took[c])) if c in took else "-" for c in contestants]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def by_cpp(model: nn.Module, inputs: list[Tensor], onnx: Path, cpp: Path) -> Run:
    manager = leapp.InferenceManager(cpp, array="numpy", allow_native=True)
    values = {"policy/obs": inputs[0].numpy()}
    return lambda: manager.run_policy(values)


def by_onnxruntime(model: nn.Module, inputs: list[Tensor], onnx: Path, cpp: Path) -> Run:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(str(onnx.parent / "policy.onnx"), options)
    binding = session.io_binding()
    for port, value in zip(session.get_inputs(), inputs, strict=True):
        binding.bind_cpu_input(port.name, np.ascontiguousarray(value.numpy()))
    for port in session.get_outputs():
        binding.bind_output(port.name)
    return lambda: session.run_with_iobinding(binding)


def by_openvino(model: nn.Module, inputs: list[Tensor], onnx: Path, cpp: Path) -> Run:
    import openvino

    settings = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino.Core().compile_model(str(onnx.parent / "policy.onnx"), "CPU", settings)
    request = compiled.create_infer_request()
    for index, value in enumerate(inputs):
        request.set_input_tensor(index, openvino.Tensor(np.ascontiguousarray(value.numpy())))
    return lambda: request.infer()


def by_executorch(model: nn.Module, inputs: list[Tensor], onnx: Path, cpp: Path) -> Run:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    program = torch.export.export(model, tuple(inputs))
    lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    file = cpp.parent / "policy.pte"
    file.write_bytes(lowered.to_executorch().buffer)
    method = Runtime.get().load_program(str(file)).load_method("forward")
    return lambda: method.execute(inputs)


def by_aotinductor(model: nn.Module, inputs: list[Tensor], onnx: Path, cpp: Path) -> Run:
    program = torch.export.export(model, tuple(inputs))
    file = torch._inductor.aoti_compile_and_package(
        program, package_path=str(cpp.parent / "policy.pt2")
    )
    compiled = torch._inductor.aoti_load_package(file)
    return lambda: compiled(*inputs)


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--others", action="store_true", help="other engines as well")
    parser.add_argument("--ticks", type=int, default=20000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        table_of_ticks(Path(folder), arguments.ticks)
        if arguments.others:
            print()
            table_of_others(Path(folder), arguments.ticks // 500)


if __name__ == "__main__":
    main()
