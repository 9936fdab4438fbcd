"""Exports a function as one ONNX node and compares it with PyTorch on new inputs.

A case is a function and how to draw its inputs. The model must pass the full check of ONNX with
strict shape inference, and give the types, shapes and values of PyTorch: on the traced inputs and
on fresh ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from conftest import Workbench
from torch import Tensor

from leapp import annotate

Draw = Callable[[torch.Generator], Tensor]

#: Relative and absolute tolerance by type; all other types must be equal.
TOLERANCE = {
    torch.float16: (2e-3, 1e-3),
    torch.bfloat16: (1.6e-2, 1e-2),
    torch.float32: (1e-4, 1e-5),
    torch.float64: (1e-7, 1e-9),
}


@dataclasses.dataclass(frozen=True)
class Case:
    function: Callable[..., Any]
    draws: tuple[Draw, ...]


def case(function: Callable[..., Any], *draws: Draw) -> Case:
    return Case(function, draws)


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Draw:
    return lambda rng: torch.randn(*shape, generator=rng).to(dtype)


def integers(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> Draw:
    return lambda rng: torch.randint(low, high, shape, generator=rng).to(dtype)


def mask(*shape: int) -> Draw:
    return lambda rng: torch.rand(*shape, generator=rng) > 0.5


def distinct(count: int, size: int) -> Draw:
    """Return some of 0 .. size - 1, without duplicates."""
    return lambda rng: torch.randperm(size, generator=rng)[:count]


def distinct_rows(rows: int, count: int, size: int) -> Draw:
    draw = distinct(count, size)
    return lambda rng: torch.stack([draw(rng) for _ in range(rows)])


def values(*numbers: float, dtype: torch.dtype = torch.float32) -> Draw:
    """Return the numbers in a random order."""

    def draw(rng: torch.Generator) -> Tensor:
        return torch.tensor(numbers, dtype=dtype)[torch.randperm(len(numbers), generator=rng)]

    return draw


def leaves(tree: Any) -> list[Tensor]:
    if isinstance(tree, Tensor):
        return [tree]
    return [leaf for branch in tree for leaf in leaves(branch)]


def compare(actual: Tensor, expected: Tensor) -> None:
    rtol, atol = TOLERANCE.get(expected.dtype, (0.0, 0.0))
    torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=True)


def export(
    bench: Workbench, function: Callable[..., Any], inputs: list[Tensor], **params: Any
) -> None:
    """Trace one call with every input as a port, and export it to ONNX."""
    with bench.trace():
        payload = {f"i{n}": x.clone() for n, x in enumerate(inputs)}
        traced = annotate.input_tensors("n", payload)
        results = leaves(function(*(traced if len(inputs) > 1 else (traced,))))
        annotate.output_tensors(
            "n",
            {f"o{n}": y for n, y in enumerate(results)},
            export_with="onnx",
            backend_params=params,
        )
    bench.compile(validate=False)


def check_file(bench: Workbench) -> None:
    """Check the file by ONNX's own rules."""
    import onnx

    path = bench.path("g", "n.onnx")
    onnx.checker.check_model(str(path), full_check=True)
    onnx.shape_inference.infer_shapes(onnx.load(path), check_type=True, strict_mode=True)


def check_on(
    bench: Workbench,
    function: Callable[..., Any],
    traced: list[Tensor],
    fresh: list[list[Tensor]],
    **params: Any,
) -> None:
    """Trace on some inputs; compare on these and on others."""
    export(bench, function, traced, **params)
    check_file(bench)
    manager = bench.manager()
    for inputs in (traced, *fresh):
        feed = {key: inputs[int(key.removeprefix("n/i"))].clone() for key in manager.inputs}
        outputs = manager.run_policy(feed)
        for n, expected in enumerate(leaves(function(*(x.clone() for x in inputs)))):
            compare(torch.as_tensor(outputs[f"n/o{n}"]), expected)


def check(bench: Workbench, one: Case, rounds: int = 2, **params: Any) -> None:
    rng = torch.Generator().manual_seed(5)
    drawn = [[draw(rng) for draw in one.draws] for _ in range(rounds + 1)]
    check_on(bench, one.function, drawn[0], drawn[1:], **params)
