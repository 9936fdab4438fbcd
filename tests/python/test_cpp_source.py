"""Generated C++ is identical each time, compiles without a warning, and runs without a fault."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from conftest import Workbench, refused
from cpp_model import WARNINGS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_cpp import Tensors, _check, _export, _floats, _functions, _reductions

import leapp
from leapp import annotate

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")


def _policy(x: torch.Tensor) -> Tensors:
    weight = torch.linspace(-1, 1, 32).reshape(4, 8)
    return [torch.tanh(F.linear(F.elu(x * 0.5 + 1), weight)).softmax(-1)]


def test_the_text_is_the_same_each_time_and_names_its_origin(bench: Workbench) -> None:
    first = _export(_policy, [torch.ones(1, 8)], bench.folder / "a").read_bytes()
    second = _export(_policy, [torch.ones(1, 8)], bench.folder / "b").read_bytes()
    assert first == second
    text = first.decode()
    assert re.search(r"// \S*test_cpp_source\.py:\d", text)
    assert "[](auto x) { return tanh(x); }" in text, "the activation goes along with the kernel"
    assert str(Path(__file__).parent) not in text
    code = re.sub(r"//.*", "", text)
    assert not re.search(r"\b(malloc|new [A-Za-z]|throw|std::vector)\b", code)


_DRIVER = """
#include <cstdlib>
#include <cstdio>
#include <leapp/cpp_model.h>
extern "C" const leapp_cpp_model* leapp_cpp_op();
int main() {
  const leapp_cpp_model& m = *leapp_cpp_op();
  const auto get = [&](size_t bytes) {
    void* p = std::aligned_alloc(m.alignment, (bytes + m.alignment) / m.alignment * m.alignment);
    for (size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(p)[i] = 0;
    return p;
  };
  void* weights = get(m.weight_bytes);
  void* memory = get(m.memory_bytes);
  const void* inputs[256];
  void* outputs[256];
  for (size_t i = 0; i < m.input_count; ++i) inputs[i] = get(m.inputs[i].bytes);
  for (size_t i = 0; i < m.output_count; ++i) outputs[i] = get(m.outputs[i].bytes);
  m.prepare(weights, memory);
  m.run(inputs, outputs, memory);
  std::puts("ran");
}
"""


_STEPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "scale": lambda x: x * 1.5 - 0.25,
    "tanh": torch.tanh,
    "turn": lambda x: x.transpose(0, -1),
    "flip": lambda x: x.flip(0),
    "cut": lambda x: x[..., : (x.shape[-1] + 1) // 2],
    "every other": lambda x: x[::2],
    "flatten": lambda x: x.reshape(x.shape[0], -1, 1),
    "centre": lambda x: x - x.mean(-1, keepdim=True),
    "softmax": lambda x: x.softmax(0),
    "double": lambda x: torch.cat([x, -x], -1),
    "running": lambda x: x.cumsum(0),
    "roll": lambda x: x.roll(1, 0),
    "pad": lambda x: F.pad(x, (1, 0)),
    "product": lambda x: x @ x.transpose(-1, -2),
    "spread": lambda x: x.unsqueeze(1).expand(-1, 2, -1, -1)[:, -1],
    "largest": lambda x: torch.maximum(x, x.amax(-1, keepdim=True) * 0.5),
    "pick": lambda x: x[torch.tensor([0, -1, 0])],
}


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    shape=st.tuples(*[st.integers(1, 4)] * 3),
    steps=st.lists(st.sampled_from(sorted(_STEPS)), min_size=2, max_size=8),
)
def test_any_chain_of_steps_on_any_shape(
    shape: tuple[int, int, int], steps: list[str], bench: Workbench
) -> None:
    def run(x: torch.Tensor) -> Tensors:
        results = []
        for step in steps:
            x = _STEPS[step](x)
            results.append(x)
        return [x, results[len(results) // 2]]

    _check(run, bench.folder, *_floats(shape), tolerance=1e-4)


def test_names_are_texts_and_never_code(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    x = annotate.input_tensors("op", {'a "b" ?? \\': torch.ones(3)})
    annotate.output_tensors("op", {"y": x * 2}, export_with="cpp")
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"op": True}


def _everything(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return [*_functions(x, y), *_reductions(x[None]), *_policy(x.reshape(1, -1)[:, :8])]


def test_sanitizers_find_nothing(bench: Workbench) -> None:
    source = _export(_everything, [torch.randn(3, 4), torch.randn(4)], bench.folder)
    driver = bench.folder / "main.cpp"
    driver.write_text(_DRIVER, encoding="utf-8")
    program = bench.folder / "main"
    include = Path(__file__).resolve().parents[2] / "include"
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0"]
    files = [str(driver), str(source), "-o", str(program)]
    subprocess.run(["g++", "-std=c++20", *sanitize, f"-I{include}", *files], check=True)
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program], capture_output=True, text=True, check=False, env=options)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_clang_finds_nothing_to_warn_of(bench: Workbench) -> None:
    if shutil.which("clang++") is None:
        pytest.skip("there is no clang++")
    source = _export(_everything, [torch.randn(3, 4), torch.randn(4)], bench.folder)
    subprocess.run(["clang++", "-std=c++20", *WARNINGS, "-fsyntax-only", str(source)], check=True)


def test_an_operator_without_cpp_is_named(bench: Workbench) -> None:
    with refused("LP901", "test_cpp_source.py:"):
        _export(lambda x: [torch.special.bessel_j0(x)], [torch.ones(3)], bench.folder)


def test_a_node_may_become_onnx(bench: Workbench) -> None:
    _export(
        lambda x: [torch.special.bessel_j0(x)],
        [torch.ones(3)],
        bench.folder,
        backend_params={"fallback": "onnx"},
    )
    assert (bench.folder / "g" / "op.onnx").exists()
    assert not (bench.folder / "g" / "op.cpp").exists()
    assert "LP902" in (bench.folder / "g" / "diagnostics.json").read_text(encoding="utf-8")


def test_validation_runs_the_source(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    leapp.start("g", save_path=str(bench.folder))
    x = annotate.input_tensors("op", {"x": torch.ones(3)})
    annotate.output_tensors("op", {"y": x.sin()}, export_with="cpp")
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"op": True}
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    leapp.compile_graph(visualize=False)
    assert "there is no compiler" in (bench.folder / "g" / "log.txt").read_text(encoding="utf-8")
