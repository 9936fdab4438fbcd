"""The annotate calls while a session is tracing: their arguments and results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench

from leapp import LeappError, TensorSemantics, annotate

X = torch.ones(2)


@pytest.mark.parametrize(
    ("payload", "count"),
    [
        ({"x": X}, None),
        ({"x": X, "y": X}, 2),
        ({"a": {"x": X, "y": [X]}}, None),
        (TensorSemantics("x", X), None),
        ([TensorSemantics("x", X), TensorSemantics("y", X)], 2),
    ],
)
def test_one_value_comes_bare_and_more_as_a_tuple(
    bench: Workbench, payload: Any, count: int | None
) -> None:
    with bench.trace():
        values = annotate.input_tensors("n", payload)
    assert isinstance(values, tuple) == (count is not None)
    if count is not None:
        assert len(values) == count


def test_containers_come_back_with_their_shape(bench: Workbench) -> None:
    with bench.trace():
        value = annotate.input_tensors("n", {"a": {"x": X, "rest": [X, (X, 3)]}})
    assert list(value) == ["x", "rest"]
    assert isinstance(value["rest"][1], tuple)
    assert value["rest"][1][1] == 3


def test_arrays_come_back_as_arrays(bench: Workbench) -> None:
    with bench.trace():
        value = annotate.input_tensors("n", {"x": np.ones(2, np.float32)})
    assert isinstance(value, np.ndarray)


@pytest.mark.parametrize(
    ("node", "payload", "code"),
    [
        (3, {"x": X}, "LP002"),
        ("n", X, "LP120"),
        ("n", {"x": np.array(["text"])}, "LP002"),
    ],
)
def test_refusals(bench: Workbench, node: Any, payload: Any, code: str) -> None:
    with bench.trace(), pytest.raises(LeappError) as caught:
        annotate.input_tensors(node, payload)
    assert caught.value.code == code


@pytest.mark.parametrize("options", [{"export_with": 3}, {"backend_params": [1]}])
def test_options_of_the_wrong_type(bench: Workbench, options: Any) -> None:
    with bench.trace(), pytest.raises(LeappError) as caught:
        x = annotate.input_tensors("n", {"x": X})
        annotate.output_tensors("n", {"y": x * 2}, **options)
    assert caught.value.code == "LP002"


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [(X, 3, "LP002"), ({"a": X}, {"b": X}, "LP116"), ([X, X], [X], "LP116")],
)
def test_mirrored_containers_must_be_alike(
    bench: Workbench, source: Any, target: Any, code: str
) -> None:
    with bench.trace(), pytest.raises(LeappError) as caught:
        annotate.mirror_leapp_tags(source, target)
    assert caught.value.code == code


def test_buffers_that_a_module_does_not_have(bench: Workbench) -> None:
    with bench.trace():
        annotate.input_tensors("n", {"x": X})
        with pytest.raises(LeappError) as caught:
            annotate.module("n", torch.nn.BatchNorm1d(2), ["no_such"])
    assert caught.value.code == "LP003"
