"""Random programs of views, writes and arithmetic: their exports agree with eager PyTorch.

A program is a list of small steps over a growing pool of tensors. Hypothesis draws and shrinks the
list; LEAPP_PROPERTY_EXAMPLES asks for more of them than a test run tries by default.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from conftest import Workbench
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from torch import nn

from leapp import annotate

EXAMPLES = int(os.environ.get("LEAPP_PROPERTY_EXAMPLES", "60"))

Tensor = torch.Tensor
#: The draw for a step: the operation, its tensors, and a small number.
Step = tuple[int, int, int, int]
Action = Callable[["Machine", int, int, int], None]

steps = st.lists(st.tuples(*[st.integers(0, 199)] * 4), min_size=1, max_size=12)


def fit(value: Tensor, shape: torch.Size) -> Tensor:
    """Repeat and cut ``value`` to the given shape."""
    wanted = shape.numel()
    flat = value.reshape(-1)
    return flat.repeat(-(-wanted // flat.numel()))[:wanted].reshape(shape)


class Machine:
    """Run a program; ``pool`` holds float tensors with at least one element."""

    def __init__(self, pool: list[Tensor], index: Tensor, state: State | None = None) -> None:
        self.pool, self.index, self.state = pool, index, state

    def at(self, number: int) -> Tensor:
        return self.pool[number % len(self.pool)]

    def put(self, value: Tensor) -> None:
        if 0 < value.numel() <= 96 and value.dim() <= 4:
            self.pool.append(value)

    def dim(self, value: Tensor, number: int) -> int:
        return number % value.dim()

    def run(self, program: list[Step]) -> Tensor:
        for operation, a, b, k in program:
            ACTIONS[operation % len(ACTIONS)](self, a, b, k)
        total = torch.zeros(6)
        for value in self.pool[-4:]:
            total = total + fit(torch.tanh(value), torch.Size([6]))
        return total


class State(nn.Module):
    """Memory that persists between ticks; programs write it in place or replace it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("matrix", torch.linspace(-1, 1, 12).reshape(3, 4))
        self.register_buffer("vector", torch.ones(5))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
        self.matrix: Tensor
        self.vector: Tensor
        self.count: Tensor


def unary(function: Callable[[Tensor], Tensor]) -> Action:
    return lambda m, a, b, k: m.put(function(m.at(a)))


def binary(function: Callable[[Tensor, Tensor], Tensor]) -> Action:
    return lambda m, a, b, k: m.put(function(m.at(a), fit(m.at(b), m.at(a).shape)))


def along(function: Callable[[Tensor, int], Tensor]) -> Action:
    """Run an operation over one dimension of a tensor that has one."""

    def action(m: Machine, a: int, b: int, k: int) -> None:
        value = m.at(a)
        if value.dim():
            m.put(function(value, m.dim(value, k)))

    return action


def written(change: Callable[[Tensor, Tensor, int], None]) -> Action:
    """Write into a new copy, which joins the pool as a whole."""

    def action(m: Machine, a: int, b: int, k: int) -> None:
        target = m.at(a).clone(memory_format=torch.contiguous_format)
        if target.dim():
            change(target, m.at(b), k)
            m.put(target)

    return action


def through(view: Callable[[Tensor, int], Tensor]) -> Action:
    """Write through a view of a new tensor; both join the pool."""

    def action(m: Machine, a: int, b: int, k: int) -> None:
        base = m.at(a).clone(memory_format=torch.contiguous_format)
        if not base.dim():
            return
        part = view(base, k)
        if part.numel() == 0:
            return
        source = fit(m.at(b), part.shape)
        if k % 3 == 0:
            part.copy_(source)
        elif k % 3 == 1:
            part.mul_(0.5).add_(source, alpha=0.25)
        else:
            part.clamp_(-0.4, 0.4)
        m.put(part)
        m.put(base)

    return action


def set_slice(target: Tensor, source: Tensor, k: int) -> None:
    part = target[..., k % target.shape[-1] :]
    target[..., k % target.shape[-1] :] = fit(source, part.shape)


def set_step(target: Tensor, source: Tensor, k: int) -> None:
    target[:: k % 3 + 1] = fit(source, target[:: k % 3 + 1].shape)


def set_row(target: Tensor, source: Tensor, k: int) -> None:
    row = k % target.shape[0]
    target[row] = fit(source, target[row].shape)
    target[row] += 0.1


def set_mask(target: Tensor, source: Tensor, k: int) -> None:
    target[target > 0.3] = 0.3 + 0.01 * (k % 5)


def set_where(target: Tensor, source: Tensor, k: int) -> None:
    target.masked_fill_(fit(source, target.shape) < 0, -0.2)


def shift(target: Tensor, source: Tensor, k: int) -> None:
    target[1:] = target[:-1].clone()
    target[0] = fit(source, target[0].shape)


def select_view(base: Tensor, k: int) -> Tensor:
    return base.select(k % base.dim(), k % base.shape[k % base.dim()])


def slice_view(base: Tensor, k: int) -> Tensor:
    return base.narrow(0, k % base.shape[0], base.shape[0] - k % base.shape[0])


def flat_view(base: Tensor, k: int) -> Tensor:
    return base.view(-1)[k % 2 :: 2]


def swapped_view(base: Tensor, k: int) -> Tensor:
    return base.transpose(0, base.dim() - 1)[0]


def chunk_view(base: Tensor, k: int) -> Tensor:
    return base.chunk(2, dim=k % base.dim())[-1]


def matmul(m: Machine, a: int, b: int, k: int) -> None:
    left, right = fit(m.at(a), torch.Size([3, 4])), fit(m.at(b), torch.Size([4, 2 + k % 3]))
    m.put(torch.tanh(left @ right))


def einsum(m: Machine, a: int, b: int, k: int) -> None:
    left, right = fit(m.at(a), torch.Size([2, 3, 4])), fit(m.at(b), torch.Size([2, 4, 3]))
    equation = ("bij,bjk->bik", "bij,bji->b", "bij,bjk->bi", "bij,cji->bc")[k % 4]
    m.put(torch.tanh(torch.einsum(equation, left, right)))


def gather_rows(m: Machine, a: int, b: int, k: int) -> None:
    m.put(fit(m.at(a), torch.Size([4, 3]))[m.index])


def index_put(m: Machine, a: int, b: int, k: int) -> None:
    table = fit(m.at(a), torch.Size([4, 3])).clone()
    table.index_put_((m.index,), fit(m.at(b), torch.Size([5, 3])), accumulate=True)
    m.put(torch.tanh(table))


def scatter(m: Machine, a: int, b: int, k: int) -> None:
    table = fit(m.at(a), torch.Size([4, 5])).clone()
    index = m.index.unsqueeze(0)
    if k % 2:
        table.scatter_add_(0, index, fit(m.at(b), torch.Size([1, 5])))
    else:
        table.scatter_(0, index, fit(m.at(b), torch.Size([1, 5])))
    m.put(table)


def out_variant(m: Machine, a: int, b: int, k: int) -> None:
    left = m.at(a)
    result = torch.empty_like(left, memory_format=torch.contiguous_format)
    torch.sub(left, fit(m.at(b), left.shape), out=result)
    torch.sin(result, out=result)
    m.put(result)


def split(m: Machine, a: int, b: int, k: int) -> None:
    value = m.at(a)
    if value.dim():
        for part in torch.split(value, 2, dim=m.dim(value, k))[:2]:
            m.put(part)


def stack(m: Machine, a: int, b: int, k: int) -> None:
    left = m.at(a)
    right = fit(m.at(b), left.shape)
    m.put(torch.stack([left, right], k % (left.dim() + 1)))
    if left.dim():
        m.put(torch.cat([left, right * 0.5], m.dim(left, k)))


def casts(m: Machine, a: int, b: int, k: int) -> None:
    value = m.at(a)
    rough = (value * 3).to((torch.int32, torch.int64, torch.float64)[k % 3])
    m.put(torch.tanh((rough + 1).float() * 0.3))


#: The steps of a program. Their order is part of a failing example.
ACTIONS: list[Action] = [
    unary(torch.tanh),
    unary(torch.sin),
    unary(lambda x: torch.relu(x) - 0.1),
    unary(lambda x: x.abs().sqrt()),
    unary(lambda x: torch.exp(-x.abs())),
    unary(lambda x: x.clamp(-0.5, 0.7)),
    unary(lambda x: x.mean()),
    unary(lambda x: x.reshape(-1)),
    unary(lambda x: x.unsqueeze(-1)),
    unary(lambda x: x.squeeze()),
    unary(lambda x: x.flatten().flip(0)),
    along(lambda x, d: x.movedim(d, 0)),
    unary(lambda x: x.expand(2, *x.shape)),
    unary(lambda x: -x + 1),
    binary(torch.add),
    binary(torch.mul),
    binary(lambda x, y: x / (1 + y.abs())),
    binary(torch.maximum),
    binary(torch.minimum),
    binary(lambda x, y: torch.where(x > y, x, y * 0.5)),
    binary(lambda x, y: torch.lerp(x, y, 0.25)),
    binary(lambda x, y: torch.atan2(x, y.abs() + 0.1)),
    along(lambda x, d: x.sum(d) * 0.3),
    along(lambda x, d: x.amax(d, keepdim=True)),
    along(lambda x, d: torch.cumsum(x, d) * 0.2),
    along(lambda x, d: torch.softmax(x, d)),
    along(lambda x, d: torch.logsumexp(x, d)),
    along(lambda x, d: torch.sort(x, dim=d).values),
    along(lambda x, d: torch.topk(x, min(2, x.shape[d]), dim=d).values),
    along(lambda x, d: torch.roll(x, 1, d)),
    along(lambda x, d: x.flip(d)),
    along(lambda x, d: x.narrow(d, x.shape[d] // 2, x.shape[d] - x.shape[d] // 2)),
    along(lambda x, d: torch.nn.functional.normalize(x, dim=d)),
    along(lambda x, d: x.std(d, unbiased=False)),
    written(set_slice),
    written(set_step),
    written(set_row),
    written(set_mask),
    written(set_where),
    written(shift),
    through(select_view),
    through(slice_view),
    through(flat_view),
    through(swapped_view),
    through(chunk_view),
    matmul,
    einsum,
    gather_rows,
    index_put,
    scatter,
    out_variant,
    split,
    stack,
    casts,
]


def draw_inputs(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(4, 6, generator=rng)
    y = torch.randn(5, generator=rng)
    return x, y, torch.randint(0, 4, (5,), generator=rng)


def export_and_compare(
    backend: str, step: Callable[[Tensor, Tensor, Tensor], Tensor], renew: Callable[[], None]
) -> None:
    """Trace three passes of ``step``, then compare six ticks on new inputs from a new start."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Path(folder))
        renew()
        with bench.trace():
            for seed in range(3):
                values = draw_inputs(seed)
                x, y, i = annotate.input_tensors("n", dict(zip("xyi", values, strict=True)))
                # The first element represents the rest: every input is used.
                anchor = 0 * (x.sum() + y.sum() + i.sum())
                annotate.output_tensors("n", {"out": step(x, y, i) + anchor}, export_with=backend)
        bench.compile(rtol=1e-3, atol=1e-4)
        manager = bench.manager()
        renew()
        for seed in range(10, 16):
            values = draw_inputs(seed)
            expected = step(*values)
            actual = manager({f"n/{k}": v for k, v in zip("xyi", values, strict=True)})["n/out"]
            torch.testing.assert_close(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True)


few = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 60,
    database=None,
    # Shrinking exports hundreds of programs, so it is only enabled if someone waits for it.
    phases=list(Phase) if EXAMPLES > 60 else [Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
backends = pytest.mark.parametrize("backend", ["jit", "onnx"])


@backends
@few
@given(program=steps)
def test_random_program(backend: str, program: list[Step]) -> None:
    def step(x: Tensor, y: Tensor, i: Tensor) -> Tensor:
        return Machine([x * 1.0, y + 0.0, x[0]], i).run(program)

    with torch.no_grad():
        export_and_compare(backend, step, lambda: None)


def write_state(state: State, which: int, value: Tensor, k: int) -> None:
    """One of the ways in which programs keep values."""
    name = ("matrix", "vector")[which % 2]
    buffer: Tensor = getattr(state, name)
    new = 0.7 * buffer + 0.3 * fit(torch.tanh(value), buffer.shape)
    how = k % 6
    if how == 0:
        setattr(state, name, new)
    elif how == 1:
        buffer.copy_(new)
    elif how == 2:
        buffer[:] = torch.roll(buffer, 1, 0)
        buffer[0] = fit(torch.tanh(value), buffer[0].shape)
    elif how == 3:
        buffer.mul_(0.5)
        buffer[..., -1] += value.mean()
    elif how == 4:
        state.count += 1
        row = (state.count % buffer.shape[0]).reshape(1)
        buffer[row] = fit(torch.tanh(value), buffer[:1].shape)
    else:
        state.count = state.count + 2
        setattr(state, name, torch.where(state.count % 4 == 0, new, buffer))


writes = st.lists(st.tuples(*[st.integers(0, 199)] * 3), min_size=1, max_size=4)


@backends
@pytest.mark.parametrize("declared", [True, False], ids=["module", "undeclared"])
@few
@given(before=steps, keep=writes, after=steps)
def test_random_stateful_program(
    backend: str,
    declared: bool,
    before: list[Step],
    keep: list[tuple[int, int, int]],
    after: list[Step],
) -> None:
    if not declared:  # without a declaration, LEAPP sees only in-place writes
        keep = [(which, a, (1, 2, 3, 4)[k % 4]) for which, a, k in keep]
    holder = [State()]

    def step(x: Tensor, y: Tensor, i: Tensor) -> Tensor:
        state = holder[0]
        if declared:
            annotate.module("n", state)
        machine = Machine([x * 1.0, y + 0.0, state.matrix + 0.0, state.vector * 1.0], i, state)
        machine.run(before)
        for which, a, k in keep:
            write_state(state, which, machine.at(a), k)
        machine.put(state.matrix * state.count)
        machine.put(state.vector + 0.0)
        return machine.run(after)

    def renew() -> None:
        holder[0] = State()

    with torch.no_grad():
        export_and_compare(backend, step, renew)


def use_view(views: list[Tensor], numbers: list[Tensor], what: int, which: int, k: int) -> None:
    """Index, read or write one of the views, by traced numbers or by plain ones."""
    view, number = views[which % len(views)], numbers[k % len(numbers)]
    if what % 8 == 0:
        view.mul_(0.5)
    elif what % 8 == 1:
        view += views[k % len(views)].mean()
    elif view.dim() == 0:
        view.neg_()
    elif what % 8 == 2:
        views.append(view[k % view.shape[0]])
    elif what % 8 == 3:
        view[..., 0] = 0.1 * k
    elif what % 8 == 4:
        view[number] = view[0] + 1
    elif what % 8 == 5:
        view[number] += 1
    else:
        views.append(view[number])


uses = st.lists(st.tuples(*[st.integers(0, 99)] * 3), min_size=3, max_size=9)


@backends
@few
@given(program=uses)
def test_random_views_by_number(backend: str, program: list[tuple[int, int, int]]) -> None:
    def step(x: Tensor, y: Tensor, i: Tensor) -> Tensor:
        table = x.mean() * torch.linspace(-1, 1, 27).reshape(3, 3, 3)
        numbers = [i.flatten()[0] % 3, i.flatten()[-1] % 2, -1 - i.sum() % 3]
        views = [table]
        for what, which, k in program:
            use_view(views, numbers, what, which, k)
        return table.sum(0) + sum(n * view.sum() for n, view in enumerate(views))

    with torch.no_grad():
        export_and_compare(backend, step, lambda: None)
