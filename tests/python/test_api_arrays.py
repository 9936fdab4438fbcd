"""Arrays at the boundary of a node: as inputs and outputs, between nodes, and as plain numbers."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from numpy_check import TRACED

import leapp
from leapp import annotate


def test_array_given_as_input_and_output(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": TRACED.copy()})
        assert isinstance(x, np.ndarray)
        y = annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert isinstance(y, np.ndarray)
        z = annotate.input_tensors("m", {"z": y})
        annotate.output_tensors("m", {"w": z + 1}, export_with="jit")
    bench.compile()
    assert bench.yaml()["pipeline"]["data_flow"] == {"n/y": ["m/z"]}


def test_array_between_nodes_keeps_its_wire(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2, 3)})
        y = annotate.output_tensors("n", {"y": x * 2}, export_with="jit").numpy()
        z = annotate.input_tensors("m", {"z": torch.from_numpy(np.ascontiguousarray(y))})
        annotate.output_tensors("m", {"w": z + 1}, export_with="jit")
    bench.compile()
    assert bench.yaml()["pipeline"]["data_flow"] == {"n/y": ["m/z"]}


@pytest.mark.parametrize(
    "part",
    [
        lambda y: y[:, ::-1],
        lambda y: y[::-1][:1].copy(),
        np.flip,
        lambda y: y[:, ::-1] * 2,
        lambda y: np.lib.stride_tricks.as_strided(y, (3,), (8,)),
    ],
)
def test_views_that_pytorch_does_not_have_keep_the_wire(bench: Workbench, part: Any) -> None:
    with bench.trace():
        for _ in range(2):
            x = annotate.input_tensors("n", {"x": TRACED.copy()})
            y = annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
            z = annotate.input_tensors("m", {"z": part(y)})
            annotate.output_tensors("m", {"w": z + 1}, export_with="jit")
    bench.compile()
    found = bench.manager()({"n/x": torch.from_numpy(TRACED * 3)})["m/w"]
    assert np.array_equal(found.numpy(), part(TRACED * 6) + 1)


def test_a_part_of_a_backwards_view_is_written_first(bench: Workbench) -> None:
    class Policy:
        def __init__(self) -> None:
            self.history = np.zeros(4, np.float32)

        def step(self, x: np.ndarray) -> np.ndarray:
            history = annotate.register_buffer("n", {"history": self.history})
            newest = history[::-1]
            newest[:2] = x
            history *= np.float32(0.5)
            return history + 0

    policy, manual = Policy(), Policy()
    with bench.trace():
        for _ in range(2):
            x = annotate.input_tensors("n", {"x": np.ones(2, np.float32)})
            annotate.output_tensors("n", {"y": policy.step(x)}, export_with="jit")
    bench.compile()
    manager = bench.manager()
    for tick in np.arange(6, dtype=np.float32).reshape(3, 2):
        found = manager({"n/x": torch.from_numpy(tick)})["n/y"]
        assert np.array_equal(found.numpy(), manual.step(tick))


def test_mirrored_array_keeps_its_wire(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": TRACED.copy()})
        y = annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        copied = np.empty_like(TRACED)
        memoryview(copied).cast("B")[:] = memoryview(y).cast("B")  # LEAPP does not see this write
        annotate.mirror_leapp_tags(y, copied)
        z = annotate.input_tensors("m", {"z": copied})
        annotate.output_tensors("m", {"w": z + 1}, export_with="jit")
    bench.compile()
    assert bench.yaml()["pipeline"]["data_flow"] == {"n/y": ["m/z"]}


def test_arrays_of_two_open_nodes_do_not_mix(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": TRACED.copy()})
        z = annotate.input_tensors("m", {"z": TRACED.copy()})
        with refused("LP110"):
            x + z


@pytest.mark.parametrize(
    "make", [lambda: np.linspace(0, 1, 3), lambda: np.linspace(0, 1, 3).astype(np.float32)]
)
def test_constants_of_numpy_are_the_same_in_every_pass(bench: Workbench, make: Any) -> None:
    with bench.trace():
        for _ in range(3):
            x = annotate.input_tensors("n", {"x": np.random.rand(3).astype(np.float32)})
            annotate.output_tensors("n", {"y": make() * x}, export_with="jit")
    bench.compile()
    assert leapp.diagnostics() == []


def test_an_error_that_comes_of_values_is_named(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": np.ones((2, 2))})
        try:
            y = np.linalg.inv(x)
        except np.linalg.LinAlgError:
            y = x * 0
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    (said,) = leapp.diagnostics()
    assert said.code == "LP202" and "np.linalg.inv" in said.text and "LinAlgError" in said.text


def test_a_masked_array_is_named_with_its_line(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": np.array([-1.0, 2.0, 4.0])})
        mean = np.ma.masked_less(x, 0).mean()
        annotate.output_tensors("n", {"y": x * mean}, export_with="jit")
    assert mean == 3.0
    assert any(
        "MaskedArray" in said.text and __file__ in said.where for said in leapp.diagnostics()
    )


def test_numpy_between_nodes_is_exported(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2, 3)})
        y = annotate.output_tensors("n", {"y": x * 2}, export_with="jit").numpy()
        z = annotate.input_tensors("m", {"z": torch.from_numpy(np.sqrt(y))})
        annotate.output_tensors("m", {"w": z + 1}, export_with="jit")
    bench.compile()
    assert "m/z is computed from n/y (aten::sqrt)" in bench.log()
    got = bench.manager().run_policy({"n/x": torch.full((2, 3), 8.0)})
    assert torch.equal(torch.as_tensor(got["m/w"]), torch.full((2, 3), 5.0))


def _clip_out(array: np.ndarray) -> None:
    np.clip(array, -0.5, 0.5, out=array)


def _clip_in_place(array: np.ndarray) -> None:
    array.clip(-0.5, 0.5, out=array)


def _set_item(array: np.ndarray) -> None:
    array[0, 0] = 0


def _multiply(array: np.ndarray) -> None:
    array *= 2


@pytest.mark.parametrize("write", [_clip_out, _clip_in_place, _set_item, _multiply])
@pytest.mark.parametrize("as_array", [False, True])
def test_numpy_write_between_nodes_is_exported_or_named(
    bench: Workbench, write: Callable[[np.ndarray], None], as_array: bool
) -> None:
    with bench.trace():
        for _ in range(2):
            x = annotate.input_tensors("n", {"x": torch.ones(2, 3)})
            y = annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
            array = y.numpy()
            write(array)
            z = annotate.input_tensors("m", {"z": array if as_array else y})
            annotate.output_tensors("m", {"w": torch.as_tensor(z) + 1}, export_with="jit")
    bench.compile()
    (said,) = leapp.diagnostics()
    assert said.code == "LP205" and "test_api_arrays.py" in said.where
    assert "m/z is computed from n/y (" in said.text
    assert ("m" in bench.yaml()["pipeline"]["inputs"]) == ("does not run this" in said.text)


def _added_at(array: np.ndarray) -> np.ndarray:
    made = array.copy()
    np.add.at(made, [0, 0], 1.0)
    return made


ESCAPES: list[tuple[str, Callable[[torch.Tensor], Any]]] = [
    (".tolist()", lambda x: x.tolist()),
    (".tolist()", lambda x: x.numpy().tolist()),
    (".item()", lambda x: x.numpy().sum().item()),
    ("float()", lambda x: float(x.numpy()[0, 0])),
    ("int()", lambda x: int(x.numpy()[0, 0])),
    ("if array", lambda x: 1 if x.numpy()[0, 0] > 0 else 2),
    ("use as an index", lambda x: [1, 2, 3, 4, 5, 6, 7, 8][x.numpy().argmax()]),
    (".flat", lambda x: list(x.numpy().flat)),
    ("in takes", lambda x: 3.0 in x.numpy()),
    ("use as a key", lambda x: {np.float32(3.0): 2}.get(x.numpy()[0, 0], 1)),
    ("np.add.at", lambda x: _added_at(x.numpy())),
    ("np.allclose", lambda x: np.allclose(x.numpy(), 1)),
    ("np.lexsort", lambda x: np.lexsort(x.numpy())),
    ("np.lexsort", lambda x: np.lexsort((x.numpy(), -x.numpy()))),
    ("A NumPy function on a tensor", lambda x: np.sin(x)),
    ("made of a traced element", lambda x: np.float32(x.numpy()[0, 0])),
    ("made of a traced element", lambda x: np.int64(x.numpy()[0, 0] * 10)),
    ("made of a traced element", lambda x: np.bool_(x.numpy()[0, 0] > 0)),
    ("float()", lambda x: np.float64(x.numpy().max())),
    ("float()", lambda x: math.sin(x.numpy()[0, 0])),
]


@pytest.mark.parametrize(("how", "use"), ESCAPES)
def test_value_that_leaves_is_named_with_its_line(
    bench: Workbench,
    capfd: pytest.CaptureFixture[str],
    how: str,
    use: Callable[[torch.Tensor], Any],
) -> None:
    plain = use(torch.from_numpy(TRACED.copy()))
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        assert np.array_equal(np.asarray(use(x)), np.asarray(plain))
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    warnings = [line for line in capfd.readouterr().err.splitlines() if how in line]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"[WARNING]: {__file__}:")


def test_showing_a_value_is_not_an_escape(
    bench: Workbench, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        print(x, repr(x), f"{x[0, 0]:.2f}", x.numpy(), repr(x.numpy()), f"{x.numpy()[0, 0]:.2f}")
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert capfd.readouterr().err == ""


def test_ufuncs_pass_for_themselves(bench: Workbench) -> None:
    sine = np.sin
    with bench.trace():
        assert isinstance(np.sin, np.ufunc) and repr(np.sin) == repr(sine) and np.sin.nin == 1
        assert np.sin == sine and {np.sin: 1}[sine] == 1
        assert pickle.loads(pickle.dumps(np.sin)) == sine
    assert np.sin is sine


def test_arrays_are_not_keys(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        with pytest.raises(TypeError, match="unhashable"):
            hash(x.numpy())
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


def test_arrays_outlive_the_session_as_ordinary_ones(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        array = x.numpy()
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert type(array * 2) is np.ndarray
    assert type(np.concatenate([array, array])) is np.ndarray
    assert type(array.sum(axis=0)) is np.ndarray
    assert type(array[0, 0]) is np.float32
    array[0] = 1
    array += 1
    assert float(array[0, 0]) == 2.0
    assert type(pickle.loads(pickle.dumps(array))) is np.ndarray


def test_without_global_patching_torch_is_untouched(bench: Workbench) -> None:
    before = torch.Tensor.numpy, torch.Tensor.tolist, np.asarray, torch.tensor
    with bench.trace(global_patching=False):
        assert (torch.Tensor.numpy, torch.Tensor.tolist, np.asarray, torch.tensor) == before


def test_patches_are_restored_when_a_session_restarts(bench: Workbench) -> None:
    before = dict(vars(torch.Tensor)), np.asarray, torch.tensor
    leapp.start("g", save_path=str(bench.folder))
    leapp.start("g", save_path=str(bench.folder))
    leapp.stop()
    assert (dict(vars(torch.Tensor)), np.asarray, torch.tensor) == before


def test_patched_function_sees_traced_values_only(bench: Workbench) -> None:
    calls = []

    def replacement(x: torch.Tensor) -> torch.Tensor:
        calls.append(x)
        return torch.sin(x) + 1  # inside of it, the original

    with bench.trace(patching=[leapp.FunctionPatch(torch, "sin", replacement)]):
        assert torch.equal(torch.sin(torch.zeros(2)), torch.zeros(2))
        x = annotate.input_tensors("n", {"x": torch.zeros(2)})
        annotate.output_tensors("n", {"y": torch.sin(x)}, export_with="jit")
    assert len(calls) == 1
    bench.compile()
    assert torch.equal(bench.manager()({"n/x": torch.zeros(2)})["n/y"], torch.ones(2))


def test_an_element_is_a_number_that_stays_traced(bench: Workbench) -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        array = x.numpy()
        w, a, b = array[0, 0], array[0, 1], array[1, 0]
        array = array.copy()
        array[0, 0] = 7.0  # w is unchanged
        built = np.array([w, abs(a), b**2, 2 - w, round(b, 1), max(2.0, 1.0) * w, -a], np.float32)
        built[1] = np.hypot(w, b)
        y = torch.zeros(9)
        y[:7] = torch.from_numpy(built)
        y[7] = torch.as_tensor(a)
        y[8] = (x[0] * w + b * x[1]).sum() + torch.tensor(w) + array[0, 0]
        return y

    data = torch.from_numpy(TRACED.copy())
    with bench.trace():
        x = annotate.input_tensors("n", {"x": data})
        annotate.output_tensors("n", {"y": compute(x)}, export_with="jit")
    assert "[WARNING]" not in bench.log()
    bench.compile()
    fresh = torch.from_numpy(TRACED[::-1].copy() * 0.5)
    torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], compute(fresh))


def test_an_element_passes_for_a_number_of_its_type(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": TRACED.copy()})
        element, wide, index = x[0, 0], x.astype(np.float64)[0, 0], x.argmax()
        assert isinstance(element, np.float32) and not isinstance(element, float)
        assert isinstance(wide, float) and isinstance(index, np.integer) and np.isscalar(index)
        assert not hasattr(element, "cpu") and not isinstance(element, Iterable)
        zeros = [0] * index if wide.is_integer() else []
        annotate.output_tensors("n", {"y": x * element + len(zeros)}, export_with="jit")
    assert zeros == [0] * 5
    said = [each.text.partition(" takes")[0] for each in leapp.diagnostics()]
    assert said == [".is_integer", "use as an index"]


def test_an_address_that_is_taken_is_named(
    bench: Workbench, capfd: pytest.CaptureFixture[str]
) -> None:
    addresses: list[int] = []
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        addresses.append(x.data_ptr())
        addresses.append(x.numpy().ctypes.data)
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert addresses[0] == addresses[1]
    shown = capfd.readouterr().err
    assert ".data_ptr() takes a traced value out" in shown
    assert ".ctypes takes a traced value out" in shown
