"""Python and PyTorch features between the annotation and the operators."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections import namedtuple

import torch
from torch import nn

from . import Ports, program
from .helpers import OneNode, actor


class _Net(OneNode):
    size = (1, 6)


@torch.jit.script
def scripted_filter(x: torch.Tensor, steps: int) -> torch.Tensor:
    for i in range(steps):
        x = x * 0.5 + float(i)
    return torch.tanh(x)


@program()
class ScriptedModule(_Net):
    """A ScriptModule and a scripted function with their own control flow."""

    def build(self) -> None:
        self.net = torch.jit.script(actor(6, 3))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return scripted_filter(self.net(obs), 3)


@torch.jit.script
def scripted_indexing(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    left = x[:, [1, 0, 3]].clone()
    left[x[:, 0] > 0.0] = 0.5
    return torch.cat([left, x[:, rows]], dim=-1)


@program()
class ScriptedIndexing(_Net):
    """A scripted function that indexes by lists, masks and tensors."""

    def build(self) -> None:
        self.rows = torch.tensor([5, 2])

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return scripted_indexing(obs, self.rows)


@program()
class TracedModule(_Net):
    """A module frozen by torch.jit.trace."""

    def build(self) -> None:
        self.net = torch.jit.trace(actor(6, 3), torch.zeros(1, 6))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(obs)
        return out


@program()
class CompiledFunction(_Net):
    """torch.compile with the eager backend."""

    def build(self) -> None:
        net = actor(6, 3)
        self.run = torch.compile(lambda x: net(x) * torch.sigmoid(x[:, :3]), backend="eager")

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.run(obs)


class Swish(torch.autograd.Function):
    """A hand-written derivative."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return grad


@program()
class AutogradFunction(_Net):
    """A custom autograd Function inside a policy."""

    def build(self) -> None:
        self.net = actor(6, 3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = Swish.apply(self.net(Swish.apply(obs)))
        return out


@torch.library.custom_op("leapp_programs::wrap_angle", mutates_args=())
def wrap_angle(x: torch.Tensor) -> torch.Tensor:
    return torch.remainder(x + torch.pi, 2 * torch.pi) - torch.pi


@wrap_angle.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@program()
class CustomOperator(_Net):
    """An operator of torch.library: itself in TorchScript, its implementation in ONNX."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return wrap_angle(obs * 3) + obs


@dataclasses.dataclass
class Command:
    velocity: torch.Tensor
    heading: torch.Tensor


Split = namedtuple("Split", "head tail")


@program()
class Containers(_Net):
    """Values inside dataclasses, named tuples, partials and generators."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        command = Command(velocity=obs[:, :2], heading=obs[:, 2:3])
        parts = Split(*torch.split(obs, [2, 4], dim=1))
        scale = functools.partial(torch.mul, other=torch.tensor(2.0))
        pieces = (scale(piece) for piece in (command.velocity, parts.head))
        return sum(pieces, start=command.heading) + parts.tail.sum()


@program()
class OperatorsOfPython(_Net):
    """Reflected and in-place operators, comparisons, matmul, pow, abs, negation."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        y = 1 - obs
        y = 2 / (3 + abs(y))
        y = 2**y - y**2 + obs % 0.7 + obs // 0.3
        y += 0.5
        y *= -obs
        z = y @ torch.eye(6) @ torch.ones(6, 2)
        z = z.T if z.shape[0] != 1 else z
        return torch.cat([z, (obs >= 0).float() - (obs != obs).float()], -1)


@program()
class TensorMethods(_Net):
    """Operators with several spellings: .T, .mT, .new_*, .type, .to, type_as, .expand_as."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        square = (obs.mT @ obs).T
        base = obs.new_zeros(6) + obs.new_full((6,), 0.5) + torch.ones_like(obs[0])
        mask = obs.gt(0).type_as(obs) + obs.lt(-1).to(obs)
        bias = base.expand_as(obs).type(torch.float32).double().float()
        return square.diagonal().unsqueeze(0) + bias + mask.swapaxes(0, 1).movedim(0, 1)


@program()
class ControlFlowOnShapes(_Net):
    """Branches and loops on shapes and Python numbers are ordinary code."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if obs.shape[0] == 1 and obs.dim() == 2:
            obs = obs.squeeze(0)
        total = torch.zeros(())
        for i, value in enumerate(obs.unbind()):
            total = total + value * (i if i % 2 else -i)
        while total.dim() < 2:
            total = total.unsqueeze(0)
        return total.repeat(1, 3)


@program()
class WorkerThread(_Net):
    """The policy runs in its own thread."""

    def build(self) -> None:
        self.net = actor(6, 3)

    def step(self, inputs: Ports) -> Ports:
        results: list[Ports] = []
        grad = torch.is_grad_enabled()

        def work() -> None:
            with torch.set_grad_enabled(grad):
                results.append(super(WorkerThread, self).step(inputs))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return results[0]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(obs)
        return out


@program()
class ModuleHooks(_Net):
    """Forward hooks change what a layer returns."""

    def build(self) -> None:
        self.net = actor(6, 3)
        self.net[2].register_forward_hook(lambda module, args, out: out.clamp(-0.5, 0.5))
        self.net.register_forward_pre_hook(lambda module, args: (args[0] * 0.5,))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(obs)
        return out


@program()
class FunctionalCall(_Net):
    """torch.func.functional_call with weights chosen at run time."""

    def build(self) -> None:
        self.net = nn.Linear(6, 3)
        self.other = {name: torch.randn_like(p) for name, p in self.net.named_parameters()}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = torch.func.functional_call(self.net, self.other, (obs,))
        return out


@program()
class GradientField(_Net):
    """A controller that follows the gradient of a potential, by torch.func.grad."""

    def build(self) -> None:
        self.goal = torch.randn(6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        def potential(x: torch.Tensor) -> torch.Tensor:
            return ((x - self.goal) ** 2).sum() + torch.exp(-(x**2).sum())

        return -0.1 * torch.func.grad(potential)(obs[0]).unsqueeze(0)
