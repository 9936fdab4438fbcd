"""Arrays of NumPy, PyTorch and other libraries as values of ports, and back."""

from __future__ import annotations

import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
import torch
from conftest import refused

import leapp


class Foreign:
    """An array of a library that only has DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


@pytest.fixture
def manager(tmp_path: Path) -> leapp.InferenceManager:
    return leapp.InferenceManager(small_bundles.affine(tmp_path), array="numpy")


def test_any_object_with_dlpack_is_read_and_released(manager: leapp.InferenceManager) -> None:
    array = np.array([[1, 2, 3, 4]], np.float32)
    before = sys.getrefcount(array)
    assert manager({"n/x": Foreign(array)})["n/y"].tolist() == [[3, 5, 7, 9]]
    assert manager({"n/x": Foreign(array[:, ::-1])})["n/y"].tolist() == [[9, 7, 5, 3]]
    assert sys.getrefcount(array) == before


@pytest.mark.parametrize(
    ("give", "kind"), [(lambda: 3, ValueError), (lambda: {}["no memory"], KeyError)]
)
def test_an_object_whose_dlpack_fails(
    manager: leapp.InferenceManager, give: Callable[[], Any], kind: type[Exception]
) -> None:
    class Broken:
        def __dlpack__(self, **options: Any) -> Any:
            return give()

    with pytest.raises(kind):
        manager({"n/x": Broken()})
    assert manager({"n/x": np.zeros((1, 4), np.float32)})["n/y"].tolist() == [[1] * 4]


@pytest.mark.parametrize(
    "x",
    [
        np.ones((1, 4), object),
        np.ones((1, 4), "U4"),
        np.ones((1, 4), "datetime64[s]"),
        np.ones((1, 4), [("x", np.float32)]),
        np.ones((1, 4), np.longdouble),
        np.ma.masked_array(np.ones((1, 4))),
    ],
    ids=lambda x: str(x.dtype),
)
def test_types_that_no_port_has(manager: leapp.InferenceManager, x: Any) -> None:
    with refused("LP602", "n/x"):
        manager({"n/x": x})


@pytest.mark.parametrize("kind", [np.int_, np.longlong, ">i8", "<i8"])
def test_types_of_numpy_are_told_by_size_and_order(tmp_path: Path, kind: Any) -> None:
    manager = leapp.InferenceManager(small_bundles.same(tmp_path, "int64"), array="numpy")
    x = {"n/x": np.array([2**62, -1, 0], kind)}
    if x["n/x"].dtype.byteorder == ">":
        with refused("LP602", "n/x"):
            manager(x)
    else:
        result = manager(x)["n/y"]
        assert (result.dtype, result.tolist()) == (np.int64, [2**62, -1, 0])


@pytest.mark.parametrize(
    "dtype",
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64 "
    "complex128".split(),
)
@pytest.mark.parametrize("shape", [[], [0], [2, 0, 3], [2, 3]])
def test_arrays_that_are_made(tmp_path: Path, dtype: str, shape: list[int]) -> None:
    bundle = small_bundles.affine(tmp_path)
    array = leapp.InferenceManager(bundle, array="numpy")._zeros(dtype, shape)
    assert isinstance(array, np.ndarray)
    assert (array.dtype.name, list(array.shape), array.any()) == (dtype, shape, False)
    assert array.flags.writeable and array.flags.c_contiguous and array.flags.owndata
    tensor = leapp.InferenceManager(bundle, array="torch")._zeros(dtype, shape)
    assert (tensor.dtype, list(tensor.shape)) == (getattr(torch, dtype), shape)
    assert not tensor.to(torch.complex128).abs().sum()


def test_memory_is_required(manager: leapp.InferenceManager) -> None:
    freed = torch.ones(1, 4)
    freed.untyped_storage().resize_(0)
    with refused("LP003", "n/x"):
        manager({"n/x": freed})


def test_a_bound_array_needs_the_type_and_shape_of_its_port(
    manager: leapp.InferenceManager,
) -> None:
    for bind, name in ((manager.bind_input, "n/x"), (manager.bind_output, "n/y")):
        with refused("LP602", name):
            bind(name, np.zeros((1, 4)))
        with refused("LP603", name):
            bind(name, np.zeros(4, np.float32))
        with refused("LP002", name):
            bind(name, [[0.0] * 4])
        with refused("LP608", name):
            bind(name, np.zeros((1, 8), np.float32)[:, ::2])


def test_a_lazily_negated_tensor_has_no_memory_to_bind(manager: leapp.InferenceManager) -> None:
    negated = torch._neg_view(torch.ones(1, 4))
    assert manager({"n/x": negated})["n/y"].tolist() == [[-1] * 4]
    for bind, name in ((manager.bind_input, "n/x"), (manager.bind_output, "n/y")):
        with refused("LP608", name):
            bind(name, negated)
    manager.bind_input("n/x", negated.clone())
    manager.tick()
    assert manager._value("n", "y").tolist() == [[-1] * 4]


def test_memory_that_only_the_export_keeps_stays_bound(manager: leapp.InferenceManager) -> None:
    class Copies:
        def __dlpack__(self, **options: Any) -> Any:
            copy = np.full((1, 4), 3, np.float32)
            copies.append(weakref.ref(copy))
            return copy.__dlpack__()

    copies: list[weakref.ref[Any]] = []
    manager.bind_input("n/x", Copies())
    assert copies[0]() is not None
    manager.tick()
    assert manager._value("n", "y").tolist() == [[7] * 4]
    manager.bind_input("n/x", None)
    assert copies[0]() is None


def test_a_pytorch_without_functions_for_exchange(tmp_path: Path) -> None:
    """PyTorch before 2.10 has only ``__dlpack__``."""
    bundle = small_bundles.affine(tmp_path)
    program = f"""
import torch
if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    del torch.Tensor.__dlpack_c_exchange_api__
import leapp
manager = leapp.InferenceManager({str(bundle)!r}, array="torch")
ones = torch.ones(1, 4)
for x in (ones, ones.requires_grad_(), torch._neg_view(torch.ones(1, 4)), torch.ones(4, 1).t()):
    y = manager({{"n/x": x}})["n/y"]
    print(type(y).__name__, y.tolist())
x, y = torch.ones(1, 4), torch.zeros(1, 4)
manager.bind_input("n/x", x)
manager.bind_output("n/y", y)
x += 1
manager.tick()
print(y.tolist())
try:
    manager.bind_input("n/x", torch._neg_view(x))
except leapp.LeappError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    three, minus = [[3.0] * 4], [[-1.0] * 4]
    lines = [f"Tensor {value}" for value in (three, three, minus, three)]
    assert done.stdout.splitlines() == [*lines, str([[5.0] * 4]), "LP608"], done.stderr
