"""The errors that existing programs recognise: their types, and the fragments of their texts.

Tests elsewhere assert codes, and the names that a message contains: conftest.refused().
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from conftest import Workbench

import leapp
from leapp import InferenceManager, TensorSemantics, annotate

TWO, THREE = torch.ones(2), torch.ones(3)


def one_pass(node: str = "n", value: torch.Tensor = TWO, name: str = "x") -> None:
    x = annotate.input_tensors(node, {name: value})
    annotate.output_tensors(node, {"y": x * 2}, export_with="jit")


def named_twice() -> None:
    semantics = TensorSemantics(name="a", ref=TWO)
    annotate.input_tensors("n", [semantics, semantics])


def mixed_list() -> None:
    annotate.input_tensors("n", [TensorSemantics(name="a", ref=TWO), TWO])


def input_twice() -> None:
    annotate.input_tensors("n", {"a": TWO})
    annotate.input_tensors("n", {"a": TWO})


def untraced_output() -> None:
    annotate.input_tensors("n", {"x": TWO})
    annotate.output_tensors("n", {"y": torch.zeros(2)}, export_with="jit")


def output_of_another_node() -> None:
    a = annotate.input_tensors("one", {"a": TWO})
    annotate.input_tensors("two", {"b": torch.ones(2)})
    annotate.output_tensors("two", {"y": a + 1}, export_with="jit")


def two_nodes_in_one_operation() -> None:
    a = annotate.input_tensors("one", {"a": TWO})
    b = annotate.input_tensors("two", {"b": torch.ones(2)})
    _ = a + b


def incomplete_node() -> None:
    annotate.input_tensors("n", {"x": TWO})
    leapp.stop()


def another_shape() -> None:
    one_pass()
    one_pass(value=THREE)


def another_name() -> None:
    one_pass()
    one_pass(name="other")


def traced_static_output() -> None:
    x = annotate.input_tensors("n", {"x": TWO})
    annotate.output_tensors("n", {"y": x + 1}, static_outputs={"s": x * 2}, export_with="jit")


def nested_state() -> None:
    annotate.input_tensors("n", {"x": TWO})
    annotate.state_tensors("n", {"h": {"a": TWO}})


def update(**states: torch.Tensor) -> Callable[[], None]:
    def run() -> None:
        annotate.input_tensors("n", {"x": TWO})
        annotate.state_tensors("n", {"h": TWO})
        annotate.update_state("n", states)

    return run


def stop_inside_a_function() -> None:
    @annotate.method(export_with="jit")
    def impatient(x: torch.Tensor) -> torch.Tensor:
        leapp.stop()
        return x * 2

    impatient(TWO)


def stop_twice() -> None:
    leapp.stop()
    leapp.stop()


def different_values() -> None:
    x = annotate.input_tensors("n", {"x": TWO})
    annotate.mirror_leapp_tags(x, torch.zeros(2))


def failed_validation() -> None:
    for offset in (0.0, 1.0):
        x = annotate.input_tensors("n", {"x": TWO})
        annotate.output_tensors("n", {"y": x + offset}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)


TRACING: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: annotate.input_tensors("n", TWO), TypeError, "does not accept a bare tensor"),
    (mixed_list, TypeError, "All items must be TensorSemantics"),
    (lambda: annotate.input_tensors("n", 3), TypeError, "expects either a dict of named tensors"),
    (named_twice, ValueError, "Duplicate TensorSemantics names"),
    (input_twice, Exception, "Duplicate i/o name"),
    (
        lambda: annotate.output_tensors("n", {"y": TWO}, export_with="jit"),
        Exception,
        "input_tensors() was never called for it",
    ),
    (untraced_output, Exception, "non-traced tensors"),
    (output_of_another_node, Exception, "belong to a different node"),
    (two_nodes_in_one_operation, Exception, "Mixing active contexts is not allowed"),
    (incomplete_node, Exception, "created but never completed"),
    (another_shape, Exception, "Reentering n with new i/o"),
    (another_name, Exception, "Reentering n with new i/o"),
    (traced_static_output, Exception, "Static outputs should be constant tensors"),
    (
        lambda: annotate.state_tensors("n", {"h": TWO}),
        Exception,
        "Call annotate.input_tensors() first",
    ),
    (nested_state, TypeError, "does not support nested state structures"),
    (update(g=TWO), Exception, "was not registered as a state tensor"),
    (update(h=THREE), Exception, "has shape"),
    (update(h=TWO.double()), Exception, "has dtype"),
    (leapp.compile_graph, Exception, "Call leapp.stop() before leapp.compile_graph()"),
    (stop_twice, Exception, "no active tracing session"),
    (stop_inside_a_function, Exception, "still executing"),
    (failed_validation, Exception, "Model validation failed for 1 node(s)"),
    (different_values, Exception, "source and target do not match"),
]


@pytest.mark.parametrize(
    ("program", "kind", "fragment"), TRACING, ids=[fragment for _, _, fragment in TRACING]
)
def test_tracing(
    bench: Workbench, program: Callable[[], Any], kind: type[Exception], fragment: str
) -> None:
    leapp.start("g", save_path=str(bench.folder))
    with pytest.raises(kind) as caught:
        program()
    assert fragment in str(caught.value)


def edit_port(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["models"]["b"]["inputs"][0].update({key: value})


LOADING: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda document: document.pop("models"), "must contain"),
    (
        lambda document: document["models"]["a"]["parameters"].update(sha256sum="0" * 64),
        "SHA256 checksum mismatch",
    ),
    (
        lambda document: document["models"]["a"]["parameters"].update(backend="fortran"),
        "Unsupported backend",
    ),
    (edit_port("shape", [3]), "Shape mismatch in pipeline connection"),
    (edit_port("dtype", "float64"), "Dtype mismatch in pipeline connection"),
]


@pytest.mark.parametrize(("change", "fragment"), LOADING, ids=[fragment for _, fragment in LOADING])
def test_loading(bench: Workbench, change: Callable[[dict[str, Any]], Any], fragment: str) -> None:
    with bench.trace():
        x = annotate.input_tensors("a", {"x": TWO})
        y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
        one_pass("b", y)
    bench.compile(validate=False)
    document = bench.yaml()
    change(document)
    bench.path("g", "g.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    with pytest.raises(ValueError) as caught:
        bench.manager()
    assert fragment in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        InferenceManager(tmp_path / "nothing.yaml")
    assert "not found" in str(caught.value)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("x")
    with pytest.raises(ValueError) as caught:
        InferenceManager(tmp_path / "model.txt")
    assert "must end with .yaml" in str(caught.value)
