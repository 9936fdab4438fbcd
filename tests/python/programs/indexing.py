"""Tables, indexing, sorting, views and in-place arithmetic."""

from __future__ import annotations

import torch

from . import Ports, normal, program
from .rotations import _OneNode


@program()
class GainSchedule(_OneNode):
    """Linear interpolation in a table with searchsorted."""

    def build(self) -> None:
        self.x, self.y = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.5]), torch.randn(5)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/v": normal(rng, 6, scale=1.5)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        v = values[0].clamp(-2.0, 2.5)
        hi = torch.searchsorted(self.x, v).clamp(1, 4)
        lo = hi - 1
        t = (v - self.x[lo]) / (self.x[hi] - self.x[lo])
        return {"gain": torch.lerp(self.y[lo], self.y[hi], t), "bin": torch.bucketize(v, self.x)}


@program()
class PriorityOrder(_OneNode):
    """Sort, gather by the order, cumulative sums, flip, diff."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/score": normal(rng, 2, 6), "maths/value": normal(rng, 2, 6)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        score, value = values
        ordered, order = torch.sort(score, dim=-1, descending=True)
        moved = torch.take_along_dim(value, order, dim=-1)
        return {
            "total": torch.cumsum(moved, -1),
            "gaps": torch.diff(ordered, dim=-1),
            "ranks": order.argsort(-1),
            "tail": moved.flip(-1).cumprod(-1),
        }


@program()
class AdvancedIndexing(_OneNode):
    """Index tensors, masks, steps, ellipsis, newaxis, assignment through them."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "maths/x": normal(rng, 4, 5, 6),
            "maths/i": torch.randint(0, 4, (3,), generator=rng),
        }

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x, i = values
        y = x.clone()
        y[1:3, ::2] = y[1:3, ::2] * 10
        y[..., -1] = 0
        y[0, torch.tensor([0, 2])] += 5
        y[i] *= -1
        y[y > 3] = 3
        return {
            "y": y,
            "picked": x[i, :, torch.tensor([1, 0, 5])],
            "outer": x[i][:, torch.tensor([4, 0])][:, None, ..., 1:4],
            "odd": x[:, 1::2].mean((0, 2)),
        }


@program()
class ScatterGrid(_OneNode):
    """An occupancy grid by index_put with accumulation and scatter_reduce."""

    def sense(self, rng: torch.Generator) -> Ports:
        cells = torch.randint(0, 5, (10, 2), generator=rng)
        return {"maths/cells": cells, "maths/weight": torch.rand(10, generator=rng)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        cells, weight = values
        grid = torch.zeros(5, 5)
        grid.index_put_((cells[:, 0], cells[:, 1]), weight, accumulate=True)
        flat = cells[:, 0] * 5 + cells[:, 1]
        highest = torch.zeros(25).scatter_reduce(0, flat, weight, reduce="amax")
        count = torch.zeros(25).scatter_add_(0, flat, torch.ones(10))
        return {"grid": grid, "highest": highest.view(5, 5), "count": count}


@program()
class ViewsAndWrites(_OneNode):
    """Writes through transposed and strided views reach the base."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/x": normal(rng, 4, 6)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        base = values[0] * 1.0
        base.t()[0] += 1
        base.view(2, 2, 6)[1].mul_(2)
        base[:, ::3].clamp_(-0.5, 0.5)
        diagonal = base.diagonal(offset=1)
        diagonal.zero_()
        halves = base.chunk(2, dim=1)
        halves[1].copy_(halves[0].flip(1))
        return {"base": base, "row": base[2]}


@program()
class OutVariants(_OneNode):
    """out= into new and reused memory."""

    def build(self) -> None:
        self.scratch = torch.empty(3, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/a": normal(rng, 3, 4), "maths/b": normal(rng, 3, 4)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        a, b = values
        fresh = torch.empty(3, 4)
        torch.add(a, b, out=fresh)
        torch.mul(fresh, 2, out=self.scratch)
        torch.sigmoid(self.scratch, out=self.scratch)
        joined = torch.empty(6, 4)
        torch.cat([a, self.scratch], out=joined)
        return {"sum": fresh, "squashed": self.scratch * 1.0, "joined": joined}


@program()
class IntegerMaths(_OneNode):
    """Division and remainder of negative numbers, shifts, bit masks, comparisons."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "maths/n": torch.randint(-50, 50, (8,), generator=rng),
            "maths/d": torch.randint(1, 7, (8,), generator=rng)
            * torch.where(torch.rand(8, generator=rng) > 0.5, 1, -1),
        }

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        n, d = values
        return {
            "floor": n // d,
            "mod": n % d,
            "trunc": torch.div(n, d, rounding_mode="trunc"),
            "fmod": torch.fmod(n, d),
            "bits": ((n & 7) | 8) ^ 3,
            "shift": (n.abs() << 2) >> 1,
            "same": (n > d) & ~(n == 0),
            "true": n / d,
        }


@program()
class Rounding(_OneNode):
    """round, floor, ceil, trunc, sign, half to even."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/x": torch.randint(-9, 9, (10,), generator=rng) / 2 + normal(rng, 10) * 0}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x = values[0]
        return {
            "round": x.round(),
            "tenth": torch.round(x / 3, decimals=1),
            "parts": torch.stack([x.floor(), x.ceil(), x.trunc(), x.sign()]),
            "wrapped": torch.fmod(x, 2) + torch.remainder(x, 2),
        }


@program()
class Statistics(_OneNode):
    """Reductions of every kind over several dims."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/x": normal(rng, 3, 4, 5)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x = values[0]
        low, where = x.min(dim=1)
        return {
            "moments": torch.stack([x.mean(), x.std(), x.var(unbiased=False), x.norm()]),
            "spread": x.amax((0, 2)) - x.amin((0, 2)),
            "low": low,
            "where": where,
            "soft": torch.logsumexp(x, dim=-1),
            "any": (x > 1).any(-1),
            "share": (x > 0).float().mean((1, 2)),
            "product": x[..., :3].prod(-1),
            "median": x.median(-1).values,
        }


@program()
class EinsumZoo(_OneNode):
    """Contractions, traces, outer products, broadcasting products."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/a": normal(rng, 2, 3, 4), "maths/b": normal(rng, 2, 4, 3)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        a, b = values
        square = torch.einsum("bij,bjk->bik", a, b)
        return {
            "square": square,
            "trace": torch.einsum("bii->b", square),
            "outer": torch.einsum("i,j->ij", a[0, 0], b[0, :, 0]),
            "dots": torch.einsum("...ij,...ij->...", a, b.transpose(1, 2)),
            "tensordot": torch.tensordot(a, b, dims=([2], [1])),
            "matmul": a @ b[0],
        }


@program()
class NonContiguousInput(_OneNode):
    """The robot passes transposed and strided memory."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "maths/x": normal(rng, 6, 4).t(),
            "maths/y": normal(rng, 4, 12)[:, ::2],
            "maths/z": normal(rng, 1, 6).expand(4, 6),
        }

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x, y, z = values
        return {
            "sum": x + 2 * y + z,
            "flat": x.reshape(-1)[:5],
            "view": x.contiguous().view(-1)[5:9],
        }


@program()
class EmptyAndScalar(_OneNode):
    """Zero-dimensional and empty tensors during the computation."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/x": normal(rng, 3), "maths/gain": normal(rng, 1).squeeze()}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x, gain = values
        nothing = x[3:]
        return {
            "y": torch.cat([x * gain, nothing, (gain**2).unsqueeze(0)]),
            "scalar": x.sum() - gain,
            "clamped": torch.clamp(x, max=gain),
        }


@program()
class MaskedUpdates(_OneNode):
    """Elements selected by a computed mask, changed and written back; their number varies."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/x": normal(rng, 3, 4), "maths/gain": normal(rng, 4)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x, gain = values
        leaky = x.clone()
        leaky[leaky < 0] = leaky[leaky < 0] * 0.1
        positive = torch.zeros_like(x)
        positive[x > 0] = x[x > 0]
        wrapped = 3 * x
        wrapped[wrapped.abs() > 2] -= 0.5
        wrapped[wrapped > 10] = 0.0
        rows = x.clone()
        done = rows[:, 0] > 0.5
        rows[done] = torch.tanh(rows[done] * gain) + 1
        return {"leaky": leaky, "positive": positive, "wrapped": wrapped, "rows": rows}


@program()
class MaskedStatistics(_OneNode):
    """Statistics of the elements that a computed mask selects."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/x": normal(rng, 3, 40), "maths/y": normal(rng, 40, 2)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x, y = values
        near = x.abs() < 1.5
        return {
            "mean": x[near].mean(),
            "sum": (2 * x[near]).sum(),
            "nearest": x[near].abs().min(),
            "farthest": x[near].max(),
            "rows": y[y[:, 0] > 0].mean(),
        }
