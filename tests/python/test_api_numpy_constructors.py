"""Arrays and tensors made from traced ones, lists with traced numbers, and other values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from conftest import Workbench
from numpy_check import check_tensors

from leapp import annotate


@pytest.mark.parametrize(
    "back",
    [
        torch.from_numpy,
        torch.as_tensor,
        torch.tensor,
        torch.asarray,
        lambda a: torch.tensor(a, dtype=torch.float64),
        lambda a: torch.stack([torch.from_numpy(row) for row in a]),
        lambda a: torch.tensor([list(row) for row in a]),
        lambda a: torch.from_numpy(np.asarray(a)),
        lambda a: torch.from_numpy(a[:, 1:]),
        lambda a: torch.from_numpy(a)[:, a[1].argmax()],
        lambda a: torch.from_numpy(a)[:, [a[1].argmax(), 0]],
        lambda a: torch.from_numpy(np.full(3, torch.from_numpy(a)[0, 0])),
        lambda a: torch.clamp(torch.from_numpy(a), max=a[0, 0]),
    ],
)
def test_back_to_torch(bench: Workbench, back: Callable[[np.ndarray], torch.Tensor]) -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        return back(x.numpy() * 2) + 1

    check_tensors(bench, compute)


def test_lists_keep_every_digit(bench: Workbench) -> None:
    def compute(time: torch.Tensor) -> torch.Tensor:
        made = np.array([time.numpy()[0], 1])
        return torch.from_numpy(made) + torch.tensor([time[0], 1]) + torch.tensor([made[0], 2])

    time = torch.tensor([1_763_430_000_123_456_789])
    with bench.trace():
        given = annotate.input_tensors("n", {"time": time})
        sums = annotate.output_tensors("n", {"y": compute(given)}, export_with="jit")
    assert sums.tolist() == compute(time).tolist()
    bench.compile()
    assert bench.manager()({"n/time": time + 1})["n/y"].tolist() == compute(time + 1).tolist()


def test_tensors_in_a_list_stay_traced(bench: Workbench) -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([x[0, 0], 5.0, x[0, 1]]) * 2

    check_tensors(bench, compute)


def test_constructors_accept_their_usual_arguments(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        a = x.numpy()
        assert np.array(object=[1.0]).tolist() == [1.0]
        assert np.asarray([1, 2], np.float32).dtype == np.float32
        assert np.array(["text", None], dtype=object).tolist() == ["text", None]
        assert np.array([a, a], ndmin=3).shape == (1, 2, 3)
        assert np.asarray(a) is a and np.array(a, copy=False) is a
        assert (np.zeros(3, ">f4") + a).tolist() == [1.0, 1.0, 1.0]
        assert torch.as_tensor([x[0], 2], dtype=torch.float64).dtype == torch.float64
        assert torch.tensor(data=[1.0, 2.0]).tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="inhomogeneous"):
            np.array([a, a[:2]])
        with pytest.raises(ValueError, match="avoid copy"):
            np.array(a, np.float64, copy=False)
        with pytest.raises(ValueError, match="only one element tensors"):
            torch.tensor([x, x])
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


def _constant(x: torch.Tensor) -> torch.Tensor:
    return x * torch.tensor(2.0) + torch.as_tensor(1.0)


def test_functions_can_be_scripted_during_a_session(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        y = torch.jit.script(_constant)(x)
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    bench.compile()
    assert bench.manager().run_policy({"n/x": torch.ones(3)})["n/y"].tolist() == [3.0] * 3


def test_arrays_made_inside_a_function_transform_stay_plain(bench: Workbench) -> None:
    def potential(x: torch.Tensor) -> torch.Tensor:
        return (x**2).sum() + float(np.zeros(2).sum())

    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        y = torch.func.grad(potential)(x)
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    bench.compile()
    assert bench.manager().run_policy({"n/x": torch.ones(3)})["n/y"].tolist() == [2.0] * 3
