"""Arrays of code that LEAPP does not see: refused, unless passes show that they are constants."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from numpy import mean, stack

import leapp
from leapp import annotate


class Program:
    """An object with arrays and a number, which a node uses."""

    def __init__(self) -> None:
        self.pose = np.arange(1, 4, dtype=np.float32)
        self.table = np.frombuffer(bytes(self.pose), np.float32)
        self.gain = np.float32(3)
        self.buffer = torch.zeros(0)


def compiled_code(array: np.ndarray) -> np.ndarray:
    """Double an array in the way of compiled code: it reads the memory and makes a new array."""
    numbers = (ctypes.c_float * array.size)()
    ctypes.memmove(numbers, array.__array_interface__["data"][0], 4 * array.size)
    return np.frombuffer(bytes(numbers), np.float32) * np.float32(2)


def fill(array: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Write to memory in the way of compiled code."""
    address = [each.__array_interface__["data"][0] for each in (array, value)]
    ctypes.memmove(*address, 4 * value.size)
    return array


def assigned(array: np.ndarray, value: np.ndarray) -> np.ndarray:
    array[:] = value
    return array


#: Computations that LEAPP does not see, of an array of the node.
UNSEEN: dict[str, Callable[[Program, np.ndarray], Any]] = {
    "compiled code": lambda program, x: compiled_code(x),
    "compiled code that fills a new array": lambda program, x: fill(np.zeros(3, np.float32), x),
    "a copy that is assigned to": lambda program, x: assigned(program.pose.copy(), x),
    "a copy of memory of compiled code": lambda program, x: np.array(memoryview(compiled_code(x))),
    "a part of an array that compiled code fills": lambda program, x: fill(
        np.empty((1, 3), np.float32), x
    )[0],
    "what other functions make": lambda program, x: assigned(np.tile([0.0], 3), x),
    "a list, by a name of the program": lambda program, x: mean([x, x], axis=0),
    "a nested list": lambda program, x: stack([[x, x]])[0, 0],
    "a reduction to a number": lambda program, x: program.pose * mean([x, x]),
    "a generator of random numbers": lambda program, x: np.random.default_rng().normal(size=3),
    "NumPy's random numbers": lambda program, x: np.random.rand(3),
    "plain arrays": lambda program, x: np.sqrt(program.pose + 1),
}
#: The same, of an array that the program holds.
WRITES: dict[str, Callable[[Program, np.ndarray], Any]] = {
    "compiled code that fills it": lambda program, x: fill(program.pose, x),
    "an assignment": lambda program, x: assigned(program.pose, x),
    "out=": lambda program, x: np.add(x, 1, out=program.pose),
    "np.copyto": lambda program, x: (np.copyto(program.pose, x), program.pose)[1],
}


def trace(bench: Workbench, compute: Callable[[Program, np.ndarray], Any], *inputs: float) -> None:
    program = Program()
    with bench.trace():
        for value in inputs:
            x = annotate.input_tensors("n", {"x": torch.full((3,), float(value))})
            y = torch.as_tensor(compute(program, x.numpy())).float()
            annotate.output_tensors("n", {"y": x + y}, export_with="jit")


@pytest.mark.parametrize("compute", UNSEEN.values(), ids=UNSEEN)
def test_one_pass_with_an_array_of_unknown_origin_is_refused(
    bench: Workbench, compute: Callable[[Program, np.ndarray], Any]
) -> None:
    trace(bench, compute, 1)
    with refused("LP223"):
        bench.compile()


@pytest.mark.parametrize("compute", WRITES.values(), ids=WRITES)
def test_a_write_to_an_array_of_the_program_is_refused(
    bench: Workbench, compute: Callable[[Program, np.ndarray], Any]
) -> None:
    trace(bench, compute, 1)
    with refused("LP224", "'program.pose'"):
        bench.compile()


def test_a_write_of_compiled_code_to_a_recorded_array_fails_validation(bench: Workbench) -> None:
    trace(bench, lambda program, x: fill(np.array(program.pose), x), 1)
    with refused("LP409"):
        bench.compile()


def test_the_message_names_both_ends(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        line = sys._getframe().f_lineno
        array = x.numpy()
        doubled = compiled_code(array)
        annotate.output_tensors("n", {"y": x + torch.from_numpy(doubled)}, export_with="jit")
    with refused("LP223") as caught:
        bench.compile()
    assert str(caught.value).startswith(f"{__file__}:{line + 3}")
    assert f"{__file__}:{line + 1} in " in str(caught.value)


@pytest.mark.parametrize(("inputs", "exported"), [((1, 1), False), ((1, 2), True)])
def test_passes_with_other_inputs_show_a_constant(
    bench: Workbench, inputs: tuple[float, ...], exported: bool
) -> None:
    trace(bench, UNSEEN["plain arrays"], *inputs)
    if not exported:
        with refused("LP223"):
            bench.compile()
        return
    bench.compile()
    expected = torch.full((3,), 5.0) + torch.sqrt(torch.arange(1, 4) + 1.0)
    torch.testing.assert_close(bench.manager()({"n/x": torch.full((3,), 5.0)})["n/y"], expected)
    (constant,) = leapp.inventory()[0].constants
    assert constant.shape == (3,)


def test_passes_with_other_inputs_show_a_computation(bench: Workbench) -> None:
    trace(bench, UNSEEN["compiled code"], 1, 2)
    with refused("LP223"):
        bench.compile()


#: Constants whose origin is certain in one pass.
KNOWN: dict[str, Callable[[Program, np.ndarray], Any]] = {
    "an array of an object": lambda program, x: program.pose,
    "memory that NumPy did not allocate": lambda program, x: program.table,
    "a view": lambda program, x: x * program.pose[::-1],
    "a number of an object": lambda program, x: x * program.gain,
    "a literal": lambda program, x: x * np.float32(0.5),
    "a new array": lambda program, x: np.array([1.0, 2.0, 3.0]),
    "a copy": lambda program, x: np.array(program.pose),
    "a constant of a function": lambda program, x: np.linspace(0, 1, 3) + np.eye(3)[1],
    "a copy that is assigned to": lambda program, x: assigned(np.array(program.pose), x),
}


@pytest.mark.parametrize("compute", KNOWN.values(), ids=KNOWN)
def test_constants_of_known_origin_need_one_pass(
    bench: Workbench, compute: Callable[[Program, np.ndarray], Any]
) -> None:
    trace(bench, compute, 1)
    bench.compile()
    x = torch.full((3,), 5.0)
    expected = x + torch.as_tensor(compute(Program(), x.numpy())).float()
    torch.testing.assert_close(bench.manager()({"n/x": x})["n/y"], expected)


def test_a_variable_of_a_function_is_held(bench: Workbench) -> None:
    offsets = ({"hip": np.ones(3, np.float32)},)  # only variables lead to it
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.zeros(3)})
        y = x.numpy() + offsets[0]["hip"]
        annotate.output_tensors("n", {"y": torch.from_numpy(y)}, export_with="jit")
    bench.compile()
    assert bench.manager()({"n/x": torch.ones(3)})["n/y"].tolist() == [2.0] * 3


def test_a_value_that_reaches_no_output_is_not_refused(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        shown = torch.from_numpy(compiled_code(x.numpy())) * 2
        assert shown.tolist() == [4.0] * 3
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    bench.compile()


def test_what_came_before_the_first_array_is_a_constant(bench: Workbench) -> None:
    program = Program()
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        scale = torch.from_numpy(np.sqrt(program.pose))
        annotate.output_tensors("n", {"y": x * scale}, export_with="jit")
    bench.compile()
    (constant,) = leapp.inventory()[0].constants
    assert constant.shape == (3,)


def test_a_pass_that_was_dropped_leaves_nothing(bench: Workbench) -> None:
    program = Program()
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        assigned(program.pose, x.numpy())
        annotate.abandon("n")
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        y = x.numpy() + program.pose
        annotate.output_tensors("n", {"y": torch.from_numpy(y)}, export_with="jit")
    bench.compile()


#: Outputs that consist of what other code computed alone.
OUTPUTS: dict[str, tuple[Callable[[Program, np.ndarray], Any], str]] = {
    "compiled code": (lambda program, x: compiled_code(x), "LP223"),
    "an array of the program": (lambda program, x: assigned(program.pose, x), "LP224"),
    "a part of it": (lambda program, x: assigned(program.pose, x)[1:], "LP224"),
}


LIBRARY = torch.library.Library("leapp_test_foreign", "DEF")
LIBRARY.define("doubled(Tensor x) -> Tensor")
LIBRARY.impl("doubled", lambda x: torch.from_numpy(compiled_code(x.numpy()).copy()), "CPU")
LIBRARY.impl("doubled", torch.empty_like, "Meta")


def test_a_recorded_operator_may_be_implemented_with_other_code(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        y = torch.ops.leapp_test_foreign.doubled(x) + torch.from_numpy(x.numpy())
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    assert bench.compile() == {"n": True}


def test_a_tensor_that_other_code_fills(bench: Workbench) -> None:
    program = Program()
    program.buffer = torch.zeros(3)
    view = program.buffer.numpy()
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        fill(view, x.numpy())
        annotate.output_tensors("n", {"y": x + program.buffer}, export_with="jit")
    with refused("LP224", "'program.buffer'"):
        bench.compile()


CONSTRUCTORS: dict[str, Callable[[torch.Tensor, np.ndarray], torch.Tensor]] = {
    "asarray": lambda x, array: torch.asarray(array),
    "new_tensor": lambda x, array: x.new_tensor(array),
    "Tensor": lambda x, array: torch.Tensor(array),
    "from_dlpack": lambda x, array: torch.from_dlpack(array.copy()),
    "frombuffer": lambda x, array: torch.frombuffer(memoryview(array.copy()), dtype=torch.float32),
}


@pytest.mark.parametrize("make", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
def test_constructors_of_tensors_report_other_code(
    bench: Workbench, make: Callable[[torch.Tensor, np.ndarray], torch.Tensor]
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        y = make(x, compiled_code(x.numpy()))
        annotate.output_tensors("n", {"y": x + y}, export_with="jit")
    with refused("LP223"):
        bench.compile()


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize(("compute", "code"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_that_other_code_computed(
    bench: Workbench, compute: Callable[[Program, np.ndarray], Any], code: str, passes: int
) -> None:
    program = Program()
    with bench.trace():
        for value in range(passes):
            x = annotate.input_tensors("n", {"x": np.full(3, value, np.float32)})
            annotate.output_tensors("n", {"y": compute(program, x)}, export_with="jit")
    with refused(code):
        bench.compile()


def test_a_replaced_function_equals_the_original(bench: Workbench) -> None:
    """Tables of other packages, such as numba's, find it."""
    known = {np.zeros: "zeros", np.mean: "mean"}
    originals = np.zeros, np.mean
    with bench.trace():
        assert known[np.zeros] == "zeros" and known[np.mean] == "mean"
        replaced = {np.zeros: "zeros", np.mean: "mean"}
    assert [replaced[each] for each in originals] == ["zeros", "mean"]


def test_an_element_of_an_array_is_no_sequence(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": np.ones(3, np.float32)})
        assert torch.Tensor([x[0], x[1]]).tolist() == [1.0, 1.0]
        assert x[0][()] * 2 == 2
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
