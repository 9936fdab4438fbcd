"""The class NodeModel: one model of a bundle, called with arrays in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate

X = np.array([[1, 2, 3, 4]], np.float32)
H = np.full((1, 4), 10, np.float32)


def node_of(folder: Path, **options: Any) -> tuple[leapp.InferenceManager, Any]:
    manager = leapp.InferenceManager(small_bundles.recurrent(folder), **options)
    return manager, manager._load_node("n")


@pytest.mark.parametrize(("array", "kind"), [("numpy", np.ndarray), ("torch", torch.Tensor)])
def test_it_returns_a_list_of_new_arrays(tmp_path: Path, array: Any, kind: type) -> None:
    _, node = node_of(tmp_path, array=array)
    first, second = node(X, torch.from_numpy(H)), node(H, H)
    assert [type(each) for each in first] == [kind, kind]
    assert [each.tolist() for each in first] == [[[11, 12, 13, 14]], [[5.5, 6, 6.5, 7]]]
    assert [each.tolist() for each in second] == [[[20] * 4], [[10] * 4]]
    first[0][:] = 0
    assert node(X, H)[0].tolist() == [[11, 12, 13, 14]]


def test_it_leaves_the_pipeline_alone(tmp_path: Path) -> None:
    manager, node = node_of(tmp_path, array="numpy")
    assert manager({"n/x": X})["n/y"].tolist() == X.tolist()
    node(X, H)
    assert manager.state()["n/h_in"].tolist() == (X / 2).tolist()
    assert manager.value_dict["n"]["y"].tolist() == X.tolist()


def test_it_outlives_its_manager(tmp_path: Path) -> None:
    manager, node = node_of(tmp_path, array="numpy")
    del manager
    assert node(X, H)[0].tolist() == [[11, 12, 13, 14]]


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ([], "LP003"),
        ([X], "LP003"),
        ([X, H, H], "LP003"),
        ([X, H.astype(np.float64)], "LP602"),
        ([X, H[0]], "LP603"),
        ([X, None], "LP002"),
    ],
)
def test_wrong_inputs_leave_it_usable(tmp_path: Path, inputs: list[Any], code: str) -> None:
    _, node = node_of(tmp_path, array="numpy")
    with refused(code, *(["n/h_in"] if len(inputs) == 2 else ["'n'"])):
        node(*inputs)
    assert node(X, H)[0].tolist() == [[11, 12, 13, 14]]


def test_a_node_that_does_not_exist(tmp_path: Path) -> None:
    manager, _ = node_of(tmp_path)
    with refused("LP601", "'m'"):
        manager._load_node("m")


def test_a_node_without_a_model(bench: Workbench) -> None:
    with bench.trace(non_traced="outside"):
        x = annotate.input_tensors("outside", {"x": torch.ones(2)})
        annotate.output_tensors("outside", {"y": x * 2}, export_with="jit")
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"z": x + 1}, export_with="jit")
    bench.compile()
    manager = bench.manager()
    with refused("LP403", "'outside'"):
        manager._load_node("outside")
    assert manager._load_node("n")(torch.ones(2))[0].tolist() == [2, 2]
