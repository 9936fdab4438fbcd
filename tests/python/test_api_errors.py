"""The exception classes: their base classes, and the user's line at the start of their text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import TensorSemantics, annotate


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (leapp.LeappError, Exception),
        (leapp.LeappTypeError, TypeError),
        (leapp.LeappValueError, ValueError),
        (leapp.LeappNotFoundError, FileNotFoundError),
        (leapp.LeappIoError, OSError),
        (leapp.LeappImportError, ImportError),
        (leapp.LeappExportError, Exception),
        (leapp.LeappValidationError, Exception),
    ],
)
def test_every_error_is_both_ours_and_a_builtin(error: type, builtin: type) -> None:
    assert issubclass(error, leapp.LeappError)
    assert issubclass(error, builtin)


HERE = re.escape(__file__) + r":\d+ in "


@pytest.mark.parametrize(
    "call",
    [
        lambda: annotate.input_tensors("n", torch.ones(2)),
        lambda: annotate.state_tensors("n", {"h": {"deep": torch.ones(2)}}),
        lambda: annotate.module("n", "no module"),  # type: ignore[arg-type]
        lambda: TensorSemantics(name="", ref=torch.ones(2)),
        lambda: TensorSemantics(name="x", ref=torch.ones(2), kind=3),  # type: ignore[arg-type]
        lambda: TensorSemantics(name="x", ref=torch.ones(2), extra=[1]),  # type: ignore[arg-type]
        lambda: TensorSemantics(name="x", ref=torch.ones(2), extra={1: 2}),  # type: ignore[dict-item]
        lambda: TensorSemantics(name="x", ref=torch.ones(2), element_names=7),
        lambda: TensorSemantics(name="x", ref=torch.ones(2), element_names=[3, 4]),
        lambda: leapp.FunctionPatch(np, "no_such_function", print),
        lambda: leapp.FunctionPatch(np, "sin", 3),  # type: ignore[arg-type]
        lambda: leapp.start(3),  # type: ignore[arg-type]
        lambda: leapp.start(""),
        lambda: leapp.start("g", save_path=3),  # type: ignore[arg-type]
        lambda: leapp.start("g", non_traced=[3]),  # type: ignore[list-item]
        lambda: leapp.start("g", patching=["sin"]),  # type: ignore[list-item]
        lambda: leapp.compile_graph(graph_configs={"frequency": 50}),  # type: ignore[arg-type]
    ],
)
def test_errors_begin_with_the_users_line(call: Callable[[], Any]) -> None:
    with pytest.raises(leapp.LeappError, match=f"^{HERE}"):
        call()


def test_time_axes_of_two_periods() -> None:
    axes = [leapp.TemporalAxis(10), leapp.TemporalAxis(20)]
    with refused("LP003"):
        TensorSemantics(name="x", ref=torch.ones(2, 2), element_names=axes)


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ((4, 3), ["x", "y", "z"]),
        ((2, 3), list("abcdef")),
        ((), ["height"]),
        ((5, 1, 3), [None, ["x", "y", "z"]]),
        ((2, 3, 4), [["l", "r"]]),
        ((3,), "one name for all of it"),
        ((7, 2), leapp.TemporalAxis(5)),
    ],
)
def test_element_names_that_fit(shape: tuple[int, ...], names: Any) -> None:
    assert TensorSemantics(name="x", ref=torch.ones(shape), element_names=names).element_names


def test_extra_may_hold_a_kind_when_none_is_given() -> None:
    assert TensorSemantics(name="x", ref=torch.ones(2), extra={"kind": "mine"}).extra
    with refused("LP003", "'kind'"):
        TensorSemantics(name="x", ref=torch.ones(2), kind="k", extra={"kind": "mine"})


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: leapp.start("g", verbose="no"), TypeError, r"verbose=\.\.\) must be True or Fa"),
        (lambda: leapp.start("g", max_cached_io="5"), TypeError, "whole number, got str"),
        (lambda: leapp.start("g", max_cached_io=2.5), TypeError, "whole number, got float"),
        (
            lambda: annotate.module("n", torch.nn.Linear),
            TypeError,
            "expects a torch.nn.Module, got type",
        ),
        (lambda: leapp.compile_graph(strict="yes"), TypeError, r"strict=\.\.\) must be True or F"),
        (lambda: leapp.compile_graph(rtol="1e-3"), TypeError, r"rtol=\.\.\) must be a number, got"),
        (lambda: leapp.compile_graph(atol=-1.0), ValueError, "must not be negative, got -1.0"),
        (lambda: leapp.compile_graph(atol=float("nan")), ValueError, "must not be negative"),
    ],
)
def test_options_of_the_wrong_kind(call: Callable[[], Any], error: type, text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        call()
    assert re.match(HERE, str(caught.value))


@pytest.mark.parametrize(
    ("port", "error", "text"),
    [
        (torch.eye(2).to_sparse(), TypeError, "port 'x' is a tensor of layout Sparse"),
        (np.array(["a"]), TypeError, "port 'x' is an array of <U1"),
    ],
)
def test_invalid_port_names_and_tensors(
    bench: Workbench, port: Any, error: type, text: str
) -> None:
    with bench.trace(), pytest.raises(error, match=text) as caught:
        annotate.input_tensors("n", {"x": port})
    assert re.match(HERE, str(caught.value))


def test_a_misspelled_node_lists_the_open_ones(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    x = annotate.input_tensors("policy", {"x": torch.ones(2)})
    with refused("LP105", "'polcy'", "'policy'"):
        annotate.output_tensors("polcy", {"y": x * 2}, export_with="jit")


@pytest.mark.parametrize("opset", ["eleven", 9])
def test_an_opset_that_cannot_be_is_refused_at_the_call(bench: Workbench, opset: Any) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        options = {"export_with": "onnx", "backend_params": {"opset_version": opset}}
        with pytest.raises(leapp.LeappError, match=HERE + ".*node 'n': .*opset_version"):
            annotate.output_tensors("n", {"y": x * 2}, **options)


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        (3, {}, "node's name must be a string, got int"),
        ("n", {"export_with": 3}, "export_with of node 'n' must be the name of a backend"),
        ("n", {"backend_params": ["a"]}, "backend_params of node 'n' must be a dict"),
    ],
)
def test_options_of_another_type(
    bench: Workbench, name: Any, options: dict[str, Any], text: str
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(TypeError, match=HERE + ".*" + text):
            annotate.output_tensors(name, {"y": x * 2}, **options)


def test_a_node_without_any_effect(bench: Workbench) -> None:
    with bench.trace():
        annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP113"):
            annotate.output_tensors("n", {}, export_with="jit")


def test_a_node_with_state_alone(bench: Workbench) -> None:
    total = torch.zeros(2)
    with bench.trace():
        for _ in range(2):
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            total += x
            annotate.output_tensors("n", {}, export_with="jit")
    assert bench.compile() == {"n": True}


def test_a_session_without_nodes(bench: Workbench) -> None:
    with bench.trace():
        pass
    bench.compile()
    assert bench.codes() == ["LP401"]
