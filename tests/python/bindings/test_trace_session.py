"""Start, stop and compile_graph of the compiled module, and its data."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import _trace, annotate

X = torch.ones(2, 3)


def trace(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


def compile_graph(**changes: Any) -> tuple[list[tuple[str, bool, str]], str, list[str]]:
    options: dict[str, Any] = {
        "visualize": False,
        "verbose": None,
        "validate": True,
        "dry_run": False,
        "rtol": 1e-3,
        "atol": 1e-5,
        "strict": True,
        "graph_configs": None,
        "golden": 0,
        "thorough": False,
        "strict_constants": False,
        "rerun": [],
        "progress": None,
        "cancelled": lambda: False,
    }
    return _trace.compile_graph(**{**options, **changes})


def test_a_compilation_returns_outcomes_report_and_schedule(bench: Workbench) -> None:
    trace(bench)
    outcomes, report, schedule = compile_graph()
    assert (outcomes, schedule) == ([("n", True, "")], [])
    assert [each["node"] for each in json.loads(report)["nodes"]] == ["n"]
    outcomes, report, _ = compile_graph(dry_run=True)
    assert (outcomes, report) == ([("n", True, "")], "")


def test_progress_is_called_with_numbers_and_the_node(bench: Workbench) -> None:
    trace(bench)
    calls: list[tuple[int, int, str]] = []
    compile_graph(progress=lambda *call: calls.append(call))
    assert {tuple(map(type, call)) for call in calls} == {(int, int, str)}
    assert [done for done, _, _ in calls] == sorted(done for done, _, _ in calls)
    assert all(done <= total for done, total, _ in calls) and "n" in {call[2] for call in calls}


@pytest.mark.parametrize("name", ["progress", "cancelled"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_callback_that_raises_ends_the_compilation(
    bench: Workbench, name: str, error: type[BaseException]
) -> None:
    trace(bench)

    def callback(*_: Any) -> bool:
        raise error

    with pytest.raises(error):
        compile_graph(**{name: callback})
    assert not bench.path("g", "g.yaml").exists()
    assert compile_graph()[0] == [("n", True, "")]


def test_a_cancelled_compilation(bench: Workbench) -> None:
    trace(bench)
    with refused("LP121"):
        compile_graph(cancelled=lambda: True)
    with pytest.raises(RuntimeError):
        compile_graph(cancelled=lambda: "yes")
    assert not bench.path("g", "g.yaml").exists()


def test_configs_are_a_frequency_and_metadata(bench: Workbench) -> None:
    trace(bench)
    compile_graph(graph_configs=(50, {"robot": "go1", "gains": (1, 2.5)}))
    configs = bench.yaml()["pipeline"]["configs"]
    assert configs == {"frequency": 50.0, "robot": "go1", "gains": [1, 2.5]}
    with refused("LP002", "['robot']"):
        compile_graph(graph_configs=(None, {"robot": object()}))
    assert bench.yaml()["system information"]["torch version"] == torch.__version__


def test_a_diagnostic_is_a_tuple(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    _trace.diagnose("LP202", "first", "n", True, "policy.py:1 in f")
    _trace.diagnose("LP202", "first", "n", True, "policy.py:1 in f")
    _trace.diagnose("LP214", "second")
    _trace.diagnose("LP214", "quiet", aloud=False)
    found = {text: (code, level, node, settled, where)
             for code, level, where, node, text, settled in _trace.diagnostics()}  # fmt: skip
    assert len(_trace.diagnostics()) == len(found) == 3
    assert found["first"] == ("LP202", "WARNING", "n", True, "policy.py:1 in f")
    assert found["second"][:4] == ("LP214", "WARNING", "", False)
    assert found["quiet"][:2] == ("LP214", "DEBUG")
    assert __file__ in found["second"][4] and __file__ in found["quiet"][4]
    with refused("LP001"):
        _trace.diagnose("B7", "not a code of a diagnostic")


def test_the_inventory_is_tuples(bench: Workbench) -> None:
    net = torch.nn.Linear(3, 4)
    offsets = torch.tensor([[1.0, torch.nan, -2.0]])
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        annotate.output_tensors("n", {"y": net(x + offsets)}, export_with="jit")
    bench.compile()
    [(node, weights, constants)] = _trace.inventory()
    assert node == "n"
    [(module, parameters, buffers, values, _)] = weights
    assert (module.rpartition(".")[2], parameters, buffers, values) == ("net", 2, 0, 16)
    [(kind, path, where, op, dtype, shape, least, most, has_nan, known, _)] = constants
    assert (kind, path.rpartition(".")[2], op, dtype) == (
        "tensor",
        "offsets",
        "aten::add",
        "float32",
    )
    assert (shape, least, most, has_nan, known) == ((1, 3), -2.0, 1.0, True, False)
    assert __file__ in where


def test_activity(bench: Workbench) -> None:
    assert _trace.is_active() is False
    leapp.start("g", save_path=str(bench.folder))
    assert _trace.is_active() is True
    _trace.drop()
    assert _trace.is_active() is False
    with pytest.raises(TypeError):
        _trace.is_active(1)  # type: ignore[call-arg]
    with refused("LP101"):
        _trace.stop()


def test_examples_for_passes_are_varied_alike() -> None:
    example = torch.linspace(-1, 1, 6).reshape(2, 3).t()
    assert torch.equal(_trace.varied_example(example, 0, 0), example)
    first, again = (_trace.varied_example(example, 1, 0) for _ in range(2))
    assert torch.equal(first, again) and not torch.equal(first, example)
    assert (first.shape, first.dtype) == (example.shape, example.dtype)
    assert not torch.equal(first, _trace.varied_example(example, 1, 1))
    assert not torch.equal(first, _trace.varied_example(example, 2, 0))
