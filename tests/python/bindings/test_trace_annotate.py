"""The annotations: payloads without Python code, tensors back, callbacks of modules."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import _trace, annotate


class Name(str): ...


class Special(torch.Tensor): ...


X = torch.ones(2)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"x": 1.0},
        {"x": np.ones(2)},
        {"x": {"y": X}},
        {"x": X, "y": None},
        {1: X},
        {Name("x"): X},
        {"x": X.as_subclass(Special)},
        OrderedDict(x=X),
        [X],
        X,
        None,
    ],
    ids=repr,
)
def test_other_payloads_are_left_to_python(bench: Workbench, payload: Any) -> None:
    leapp.start("g", save_path=str(bench.folder))
    assert _trace.input_dict("n", payload) is NotImplemented
    assert _trace.output_dict("n", payload, "jit") is NotImplemented
    assert _trace.open_nodes() == []


def test_a_plain_dict_gives_a_tensor_or_a_tuple(bench: Workbench) -> None:
    with bench.trace():
        x = _trace.input_dict("n", {"x": X})
        a, b = _trace.input_dict("n", {"a": X, "b": 2 * X})
        assert [type(each) for each in (x, a, b)] == [torch.Tensor] * 3
        assert (x.tolist(), b.tolist()) == ([1, 1], [2, 2])
        y, z = x + a, x * b
        found = _trace.output_dict("n", {"y": y, "z": z}, "jit")
        assert type(found) is tuple and found[0] is y and found[1] is z
    assert bench.compile() == {"n": True}


@pytest.mark.parametrize("export_with", [None, 3, Name("jit")])
def test_a_backend_that_is_not_a_plain_string_is_left_to_python(
    bench: Workbench, export_with: Any
) -> None:
    leapp.start("g", save_path=str(bench.folder))
    x = _trace.input_dict("n", {"x": X})
    assert _trace.output_dict("n", {"y": x * 2}, export_with) is NotImplemented
    assert _trace.open_nodes() == ["n"]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_the_number_of_arguments(count: int) -> None:
    for function in (_trace.input_dict, _trace.output_dict):
        with pytest.raises(TypeError):
            function(*["n"] * count)


def test_errors_of_the_library_have_their_code(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    with refused("LP105", "'n'"):
        _trace.output_dict("n", {"y": X}, "jit")
    with refused("LP118"):
        _trace.input_dict("", {"x": X})
    with refused("LP105", "'n'"):
        _trace.state_tensors("n", [("h", X, None)])


def test_constants_are_names_or_tensors(bench: Workbench) -> None:
    held, named = torch.full((2,), 3.0), torch.full((2,), 5.0)
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        y = x * held + named
        with pytest.raises(RuntimeError):
            _trace.output_tensors("n", [("y", y, None)], [], "jit", {}, [3], None)  # type: ignore[list-item]
        entries = [("y", y, None)]
        _trace.output_tensors("n", entries, [], "jit", {}, ["named", held], None)
    bench.compile()
    [(node, _, constants)] = _trace.inventory()
    acknowledged = {path.rpartition(".")[2]: known for _, path, *_, known, _ in constants}
    assert (node, acknowledged) == ("n", {"held": True, "named": True})


def test_buffers_of_a_module_are_asked_for_in_each_pass(bench: Workbench) -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = torch.zeros(2)
            self.asked = 0

        def __call__(self) -> list[torch.Tensor]:
            self.asked += 1
            return [self.count]

    counter = Counter()
    with bench.trace():
        for _ in range(3):
            x = annotate.input_tensors("n", {"x": X})
            _trace.module("n", [("count", counter.count, None)], counter)
            counter.count = counter.count + x
            annotate.output_tensors("n", {"y": counter.count * 2}, export_with="jit")
    assert counter.asked >= 3
    bench.compile()
    manager = bench.manager()
    assert [manager({"n/x": X})["n/y"].tolist() for _ in range(3)] == [[2, 2], [4, 4], [6, 6]]
    gone = weakref.ref(counter)
    del counter
    leapp.start("other", save_path=str(bench.folder))
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_a_callback_that_raises_is_the_exception_of_the_output(
    bench: Workbench, error: type[BaseException]
) -> None:
    def current() -> list[torch.Tensor]:
        raise error("buffer")

    leapp.start("g", save_path=str(bench.folder))
    x = annotate.input_tensors("n", {"x": X})
    _trace.module("n", [("count", torch.zeros(2), None)], current)
    with pytest.raises(error):
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
