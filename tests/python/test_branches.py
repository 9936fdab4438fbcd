"""Higher-order functions and custom operators in a node: exported, or refused with the line.

Transforms of torch.func hide values in wrappers, forward-mode derivatives have zeros without
memory, torch.cond and packed sequences read values; an operator of torch.library hides all it runs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from torch import Tensor, nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import leapp
from leapp import annotate

WEIGHT = torch.arange(16.0).reshape(4, 4).sin()


def energy(z: Tensor) -> Tensor:
    return 0.5 * (z * z).sum() + z @ WEIGHT @ z


def several(z: Tensor) -> Tensor:
    return torch.stack([2 * z.sin().sum(), torch.tensor(1.0), 0.5 * z[0] * z[1]])


def rows(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Apply the function to three rows of the input."""
    return lambda x: vmap(function)(torch.stack([x, 2 * x, x - 1]))


def with_weights(x: Tensor) -> Tensor:
    net = nn.Linear(4, 2)
    weights = {"weight": WEIGHT[:2], "bias": WEIGHT[2, :2]}
    loss = grad(lambda p: 0.5 * functional_call(net, p, (x,)).square().sum())(weights)
    return loss["weight"]


def batched_grad(x: Tensor) -> Tensor:
    """Map with PyTorch's older vmap, which autograd uses."""
    jacobian: Tensor = torch.autograd.functional.jacobian(several, x, vectorize=True)
    return jacobian


def forward_mode(x: Tensor) -> Tensor:
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones(4))
        return torch.autograd.forward_ad.unpack_dual(dual * dual).tangent


def swapped(x: Tensor) -> Tensor:
    a, b = x * 2, x + 1
    torch.utils.swap_tensors(a, b)
    return a - 3 * b


def each(x: Tensor) -> Tensor:
    """Write and scale like a TensorDict."""
    kept = [torch.zeros(4), torch.ones(4)]
    torch._foreach_copy_(kept, [x, 2 * x])
    scaled = torch._foreach_mul(kept, 0.5)
    return scaled[0] - kept[1]


def twice_packed(x: Tensor) -> Tensor:
    batch = torch.stack([x, -x]).reshape(2, 4, 1)
    packed = pack_padded_sequence(batch, [2, 4], batch_first=True, enforce_sorted=False)
    padded, lengths = pad_packed_sequence(packed, batch_first=True)
    return 2 * padded + lengths[:, None, None]


LSTM = nn.LSTM(1, 3, batch_first=True)


def recurrent(x: Tensor) -> Tensor:
    packed = pack_padded_sequence(torch.stack([x, -x]).reshape(2, 4, 1), [3, 2], batch_first=True)
    return pad_packed_sequence(LSTM(packed)[0], batch_first=True)[0]


@torch.library.custom_op("leapp_higher_order::shift", mutates_args=())
def shift(x: Tensor, scale: float, more: list[Tensor], none: Tensor | None = None) -> Tensor:
    y = torch.zeros(5)
    y[1:] = x * scale + more[0]
    y[:2].mul_(3)
    return y


@torch.library.custom_op("leapp_higher_order::twice", mutates_args=())
def twice(x: Tensor) -> tuple[Tensor, Tensor]:
    return shift(x, 2.0, [x]), shift(x, 3.0, [x])


CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "jvp": lambda x: jvp(lambda z: z * 2, (x,), (x,))[1],
    "jvp-of-parts": lambda x: jvp(several, (x,), (x,))[1],
    "jvp-cat": lambda x: jvp(lambda z: torch.cat([z, torch.ones(2)]), (x,), (x,))[1],
    "vjp": lambda x: vjp(several, x)[1](x[:3])[0],
    "grad": lambda x: grad(energy)(x),
    "grad-of-grad": lambda x: grad(lambda z: grad(energy)(z).square().sum())(x),
    "hessian": lambda x: hessian(energy)(x),
    "jacfwd": lambda x: jacfwd(several)(x),
    "jacrev": lambda x: jacrev(several)(x),
    "vmap-grad": rows(grad(energy)),
    "vmap-hessian": rows(hessian(energy)),
    "vmap-vmap": rows(vmap(lambda a: a * 2 + 1)),
    "functional-call": with_weights,
    "batched-grad": batched_grad,
    "swapped": swapped,
    "for-each": each,
    "cond": lambda x: torch.cond(x.sum() > 0, lambda z: z * 2, lambda z: z - 1, (x,)),
    "cond-operator": lambda x: torch.ops.higher_order.cond(
        x.sum() > 0, lambda z: (z * 2,), lambda z: (z - 1,), (x,)
    )[0],
    "packed": twice_packed,
    "packed-lstm": recurrent,
    "own": lambda x: shift(x, 0.5, [x + 1]) + 1,
    "own-nested": lambda x: twice(x)[0] - twice(x)[1],
}

#: Code that eager PyTorch would compile before it runs.
PLAIN = dict.fromkeys(["cond", "cond-operator"], lambda x: torch.where(x.sum() > 0, x * 2, x - 1))


def export(bench: Workbench, function: Callable[[Tensor], Tensor], backend: str) -> None:
    with bench.trace():
        for _ in range(2):
            x = annotate.input_tensors("n", {"x": torch.randn(4)})
            annotate.output_tensors("n", {"y": function(x)}, export_with=backend)
    bench.compile()


@pytest.mark.parametrize("name", CASES)
def test_a_function_of_functions_is_exported(name: str, backend: str, bench: Workbench) -> None:
    export(bench, CASES[name], backend)
    manager = bench.manager()
    for _ in range(3):
        x = torch.randn(4)
        expected = PLAIN.get(name, CASES[name])(x).detach()
        given = torch.as_tensor(manager.run_policy({"n/x": x})["n/y"])
        torch.testing.assert_close(given, expected, rtol=1e-4, atol=1e-5)


def test_the_log_names_the_operators_of_an_implementation(bench: Workbench) -> None:
    export(bench, CASES["own"], "onnx")
    assert "leapp_higher_order::shift is a custom operator" in bench.log()
    assert "test_branches.py:" in bench.log()


@torch.library.custom_op("leapp_higher_order::keep", mutates_args=("memory",))
def keep(memory: Tensor, x: Tensor) -> None:
    memory[1:] = memory[:-1].clone()
    memory[0] = x


def test_an_operator_may_write_to_its_arguments(backend: str, bench: Workbench) -> None:
    def history() -> Callable[[Tensor], Tensor]:
        memory = torch.zeros(3, 4)

        def step(x: Tensor) -> Tensor:
            keep(memory, x)
            return memory.sum(0)

        return step

    export(bench, history(), backend)
    manager, eager = bench.manager(), history()
    for _ in range(4):
        x = torch.randn(4)
        given = torch.as_tensor(manager.run_policy({"n/x": x})["n/y"])
        torch.testing.assert_close(given, eager(x))


@torch.library.custom_op("leapp_higher_order::by_numpy", mutates_args=())
def by_numpy(x: Tensor) -> Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy()))


@torch.library.custom_op("leapp_higher_order::by_branch", mutates_args=())
def by_branch(x: Tensor) -> Tensor:
    return x * 2 if x.sum() > 0 else x - 1


def lengths_from_input(x: Tensor) -> Tensor:
    batch = x.reshape(2, 2, 1)
    lengths = (x[:2] > 0).long() + 1
    packed = pack_padded_sequence(batch, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(packed, batch_first=True, total_length=2)[0]


def writes_to_operand(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda z: z.add_(1), lambda z: z - 1, (x.clone(),))


REFUSED: dict[str, Callable[[Tensor], Tensor]] = {
    "numpy inside": by_numpy,
    "a branch inside": by_branch,
    "computed lengths": lengths_from_input,
    "a branch that writes": writes_to_operand,
    "dual numbers": forward_mode,
    "bits": lambda x: x.view(torch.int32),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_operators_are_refused_with_their_line(name: str, bench: Workbench) -> None:
    with torch.no_grad(), pytest.raises(leapp.LeappError, match=r"test_branches\.py:\d+"):
        export(bench, REFUSED[name], "onnx")


def test_a_choice_by_a_value_from_outside_runs_one_branch(bench: Workbench) -> None:
    gate, ran = torch.tensor(True), []

    def branch(factor: float) -> Callable[[Tensor], Tensor]:
        def run(x: Tensor) -> Tensor:
            ran.append(factor)
            return x * factor

        return run

    export(bench, lambda x: torch.cond(gate, branch(2.0), branch(3.0), (x,)), "jit")
    assert set(ran) == {2.0}
    assert bench.manager().run_policy({"n/x": torch.ones(4)})["n/y"].tolist() == [2.0] * 4


def test_other_bits_of_the_same_memory(bench: Workbench) -> None:
    export(bench, lambda x: (x.view(torch.int32) & 0x7FFFFFFF).view(torch.float32), "jit")
    x = torch.randn(4)
    assert torch.equal(torch.as_tensor(bench.manager().run_policy({"n/x": x})["n/y"]), x.abs())


@pytest.mark.parametrize("role", ["input", "output"])
def test_ports_inside_of_a_transform_are_refused(role: str, bench: Workbench) -> None:
    def step(x: Tensor) -> Tensor:
        x = annotate.input_tensors("n", {"x": x})
        y: Tensor = annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        return y

    def leaky(x: Tensor) -> None:
        kept = []
        x = annotate.input_tensors("n", {"x": x})
        vmap(lambda z: kept.append(z * 2) or z)(x)  # type: ignore[func-returns-value]
        annotate.output_tensors("n", {"y": kept[0]}, export_with="jit")

    run = vmap(step) if role == "input" else leaky
    with bench.trace(), refused("LP117"):
        run(torch.randn(3, 4))
