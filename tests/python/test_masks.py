"""Masks inside nodes: the number of selected elements while tracing does not matter."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from conftest import Workbench, refused
from torch import Tensor, nn

from leapp import annotate
from leapp.errors import LeappExportError

ROWS = 5


class Nets(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(7)
        self.one = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.LayerNorm(8), nn.Linear(8, 3))
        self.two = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
        self.images = nn.Conv1d(1, 2, 2)
        self.cell = nn.GRUCell(3, 3)
        self.eval()


NETS = Nets()
RECURRENT = nn.LSTM(3, 2, batch_first=True)  # creates a state with one row for each selected one

Compute = Callable[[Tensor, Tensor], Tensor]


def one_expert(x: Tensor, m: Tensor) -> Tensor:
    out = torch.zeros(ROWS, 3)
    out[m] = NETS.one(x[m])
    return out


def two_experts(x: Tensor, m: Tensor) -> Tensor:
    out = torch.zeros(ROWS, 3)
    for which, net in enumerate((NETS.one, NETS.two)):
        here = m.long() == which
        out[here] = net(x[here])
    return out


def scaled_elements(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    y[x > 1] = y[x > 1] * 2
    y[y < -0.5] += 1.0
    return y


def scaled_line(x: Tensor, m: Tensor) -> Tensor:
    y = x[:, 1].clone()
    y[m] = y[m] * 2 + 1
    return y


def normalised_rows(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    y[m] = y[m] / y[m].norm(dim=1, keepdim=True)
    return y


def unit_rows(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    y[m] = F.normalize(y[m], dim=-1)
    return y


def places(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    i = torch.where(m)[0]
    y[i] = y[i] * 2
    return y


def listed_places(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    i = m.nonzero().squeeze(1)
    y[i] = y[i].cumsum(1) + i[:, None]
    return y


def columns_of_places(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    i, j = (x > 0.3).nonzero(as_tuple=True)
    y[i, j] = y[i, j].exp()
    return y


def recurrent_cell(x: Tensor, m: Tensor) -> Tensor:
    h = x.flip(0)
    out = h.clone()
    out[m] = NETS.cell(x[m], h[m])
    return out


def scattered(x: Tensor, m: Tensor) -> Tensor:
    big = x > 0.4
    y = torch.ones_like(x).masked_scatter(big, x[big] * 2)
    return y.index_put((m,), x[m], accumulate=True)


def reshaped(x: Tensor, m: Tensor) -> Tensor:
    out = torch.zeros(ROWS, 4)
    out[m] = NETS.images(x[m].unsqueeze(1)).flatten(1)
    return out


def joined(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    s = x[m]
    y[m] = torch.cat([s[:, 1:], s.sum(1, keepdim=True)], dim=1).softmax(-1).logcumsumexp(1)
    return y


def all_elements(x: Tensor, m: Tensor) -> Tensor:
    big = x > 0.2
    return x - torch.masked_select(x, big).sum() + x[m].sum(0)


def pooled(x: Tensor, m: Tensor) -> Tensor:
    features = NETS.two(x[m])
    mean = features.mean(0, keepdim=True) + x[x > -9].mean()
    return torch.nan_to_num(mean) + torch.where(m.any(), features.sum((0, 1)), 0.0)


def written_in_place(x: Tensor, m: Tensor) -> Tensor:
    out = x.clone()
    s = x[m]
    s[:, 0] = 0.5
    s[:, 1:].mul_(2)
    s.view(-1).add_(1)
    out[m] = s
    return out


def filled(x: Tensor, m: Tensor) -> Tensor:
    out = x.clone()
    s = x[m]
    s.zero_()
    out[m] = s + x.sum()
    return out


def bins(x: Tensor, m: Tensor) -> Tensor:
    return torch.bincount(x[:, 1].clamp(0, 2.9).long(), minlength=3).float() + m.sum()


def classes(x: Tensor, m: Tensor) -> Tensor:
    return F.one_hot(m.long(), 4).float()


def in_numpy(x: Tensor, m: Tensor) -> Tensor:
    y = x.numpy().copy()
    y[y < 0] *= -2
    y[m.numpy()] += 1
    return torch.from_numpy(y)


def constant_mask(x: Tensor, m: Tensor) -> Tensor:
    return x[torch.tensor([True, False, True, True, False])] * m.any()


def behind_others(x: Tensor, m: Tensor) -> Tensor:
    """Fill the history of reset rows like Isaac Lab's CircularBuffer."""
    history = torch.arange(4.0 * ROWS * 3).view(4, ROWS, 3)
    history[0] = x
    history[:, m] = x[m]
    history[1:, ~m] = history[1:, ~m] * 0.5 + x[~m]
    return history.transpose(0, 1).reshape(ROWS, -1)


def over_others(x: Tensor, m: Tensor) -> Tensor:
    columns = x.T * 2
    columns[..., m] = columns[..., m] - 1
    mean = columns[:, m].mean(-1) + columns[:, m].sum((0, 1)) + columns[:, m].mean()
    return torch.nan_to_num(mean)


def elements_behind_others(x: Tensor, m: Tensor) -> Tensor:
    both = torch.stack([x, x * 2])
    both[:, x > 0.3] = x[x > 0.3]
    return both


def reset_places(x: Tensor, m: Tensor) -> Tensor:
    """Reset like legged_gym's reset_idx()."""
    held = x.clone()
    ids = m.nonzero(as_tuple=False).flatten()
    held[ids] = 0.0
    held[ids, 1] = 2.0
    held[ids] += x[ids]
    late = (x[:, 1] > 0).nonzero().view(-1)
    held[late] = torch.tensor([1.0, 2.0, 3.0])
    return held


def reset_numbered(x: Tensor, m: Tensor) -> Tensor:
    counts = torch.ones(ROWS, dtype=torch.long)
    ids = torch.arange(ROWS)[m]
    counts[ids] = 7
    wide = torch.zeros(2, ROWS)
    wide[:, torch.where(m)[0]] = 0.5
    return x[:, 1] + counts + wide.sum(0)


def by_other_names(x: Tensor, m: Tensor) -> Tensor:
    ids = torch.argwhere(m).squeeze(-1)
    y = x.index_fill(0, ids, 3.0) + torch.zeros(ROWS, 3).index_copy(0, ids, x[ids])
    return y.index_add(0, ids, x.index_select(0, ids))


def one_of_each(x: Tensor, m: Tensor) -> Tensor:
    """Convert like matrix_to_quaternion() of PyTorch3D and Isaac Lab."""
    candidates = x[:, :, None] * x[:, None, :]
    largest = F.one_hot(x.argmax(dim=-1), num_classes=3)
    batch = x.view(1, ROWS, 3)
    flags = batch[F.one_hot(batch.argmin(-1), 3) == 1].view(1, ROWS)
    return candidates[largest > 0.5, :].reshape((*x.shape[:-1], 3)) + flags.T


def selected_of_selected(x: Tensor, m: Tensor) -> Tensor:
    some = x[m]
    fewer = some[some[:, 1] > 0]
    return x * fewer.sum() + fewer.sum(0)


def two_each(x: Tensor, m: Tensor) -> Tensor:
    two = x >= x.topk(2, -1).values[:, -1:]
    return (x[two] * 2).reshape(ROWS, -1) @ torch.ones(2, 3)


BOTH: list[Compute] = [
    one_expert, two_experts, scaled_elements, scaled_line, normalised_rows, unit_rows, places,
    listed_places, columns_of_places, reshaped, joined, all_elements, bins, classes, in_numpy,
    constant_mask, pooled, recurrent_cell, scattered, behind_others, over_others,
    elements_behind_others, reset_places, reset_numbered, by_other_names, one_of_each,
    selected_of_selected,
]  # fmt: skip


def sorted_back(x: Tensor, m: Tensor) -> Tensor:
    y = x[:, 1].clone()
    y[m] = y[m].sort().values * y[m]
    return y


def two_masks(x: Tensor, m: Tensor) -> Tensor:
    y = x.clone()
    y[m] = x[m.flip(0)] + 1
    return y


JIT_ONLY: list[Compute] = [written_in_place, filled, sorted_back, two_masks]


def rows(counts: int, seed: int) -> Tensor:
    """Return values of which the given number of rows starts with a positive number."""
    torch.manual_seed(seed)
    x = torch.randn(ROWS, 3)
    chosen = torch.randperm(ROWS) < counts
    x[:, 0] = torch.where(chosen, 1.0, -1.0) * (x[:, 0].abs() + 0.1)
    return x


@pytest.mark.parametrize("passes", [(1, 3), (0, 2), (ROWS, 1), (1,), (0,), (3, 0, 1)])
@pytest.mark.parametrize(
    ("compute", "backend"),
    [(c, b) for c in BOTH for b in ("jit", "onnx")] + [(c, "jit") for c in JIT_ONLY],
)
def test_any_number_of_rows(
    bench: Workbench, compute: Compute, backend: str, passes: tuple[int, ...]
) -> None:
    def step(x: Tensor) -> Tensor:
        x = annotate.input_tensors("n", {"x": x})
        y = compute(x, x[:, 0] > 0)
        annotate.output_tensors("n", {"y": y}, export_with=backend)
        return y

    with torch.no_grad():
        with bench.trace():
            for i, count in enumerate(passes):
                step(rows(count, i))
        bench.compile()
        assert not {"LP201", "LP210", "LP301"} & set(bench.codes())
        manager = bench.manager()
        counts = [0, 1, 2, ROWS, 1, 0, 4]
        random.Random(len(passes)).shuffle(counts)
        for tick, count in enumerate(counts):
            x = rows(count, 50 + tick)
            expected = compute(x.clone(), x[:, 0] > 0)
            found = torch.as_tensor(manager.run_policy({"n/x": x})["n/y"])
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


class Kept:
    """Outputs in the next tick the elements that the mask of this tick selects."""

    def __init__(self) -> None:
        self.mask = torch.zeros(ROWS, dtype=torch.bool)
        self.held = torch.zeros(ROWS, 3)

    def step(self, x: Tensor, backend: str) -> Tensor:
        x = annotate.input_tensors("n", {"x": x})
        y = x.clone()
        y[self.mask] = y[self.mask] * 2
        self.mask = x[:, 0] > 0
        self.held[self.mask] = x[self.mask] + self.held[self.mask] * 0.5
        y = y + self.held
        annotate.output_tensors("n", {"y": y}, export_with=backend)
        return y


@pytest.mark.parametrize("passes", [(1, 3, 1), (0, 1, 2), (3, ROWS, 1)])
def test_a_mask_that_is_state(bench: Workbench, backend: str, passes: tuple[int, ...]) -> None:
    kept = Kept()
    with bench.trace():
        for i, count in enumerate(passes):
            kept.step(rows(count, i), backend)
    bench.compile()
    assert not {"LP201", "LP210", "LP301"} & set(bench.codes())
    manager = bench.manager()
    eager = Kept()
    for tick, count in enumerate([2, 0, 1, ROWS, 1, 3]):
        x = rows(count, 80 + tick)
        found = torch.as_tensor(manager.run_policy({"n/x": x})["n/y"])
        torch.testing.assert_close(found, eager.step(x, backend), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, m: x[m].sum(0) / x[m].shape[0],
        lambda x, m: x * len(x[m]),
        lambda x, m: x + x[m].numel(),
        lambda x, m: x + x[m].size(0),
        lambda x, m: x * torch.nonzero(x[:, 0]).shape[0],
        lambda x, m: x + torch.from_numpy(np.ones(len(x.numpy()[m.numpy()]))).sum(),
        lambda x, m: x + torch.unique(x).shape[0],
        lambda x, m: x + RECURRENT(x[m].unsqueeze(1))[0].sum(),
        lambda x, m: x[m],
        lambda x, m: x + sum(row.sum() for row in x[m]),
    ],
)
def test_a_number_of_elements_that_is_used_is_named(bench: Workbench, compute: Compute) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": rows(2, 0)})
        annotate.output_tensors("n", {"y": compute(x, x[:, 0] > 0)}, export_with="jit")
    bench.compile(validate=False)
    warnings = [line for line in bench.log().splitlines() if line.endswith("[LP210]")]
    assert warnings
    assert all("test_masks.py:" in line for line in warnings)


@pytest.mark.parametrize(
    ("compute", "advice"),
    [
        (lambda x, m: torch.bincount(x[:, 0].abs().long()), "scatter_add"),
        (sorted_back, "torch.where"),
        (two_masks, "torch.where"),
    ],
)
def test_selections_without_an_onnx_form_are_refused(
    bench: Workbench, compute: Compute, advice: str
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": rows(2, 0)})
        annotate.output_tensors("n", {"y": compute(x, x[:, 0] > 0)}, export_with="onnx")
    with pytest.raises(LeappExportError, match=advice):
        bench.compile()


def test_a_number_that_is_always_the_same_is_one_that_the_model_insists_on(
    bench: Workbench, backend: str
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": rows(2, 0)})
        y = two_each(x, x > 0)
        annotate.output_tensors("n", {"y": y}, export_with=backend)
    bench.compile()
    assert bench.log().count("only with the traced number of elements") == 1
    manager = bench.manager()
    x = rows(3, 1)
    found = torch.as_tensor(manager.run_policy({"n/x": x})["n/y"])
    torch.testing.assert_close(found, two_each(x, x > 0))
    with refused("LP611", "'n'"):
        manager.run_policy({"n/x": torch.ones(ROWS, 3)})  # all three of each row are the largest
