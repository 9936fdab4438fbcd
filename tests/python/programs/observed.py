"""Programs that notice changes to their objects: by identity, type, id or weak reference."""

from __future__ import annotations

import collections
import copy
import dataclasses
import gc
import weakref
from typing import Any

import numpy as np
import torch
from torch import nn

from . import normal, program
from .helpers import FourNumbers, OneNode

_NO_VALUE = torch.zeros(())
_ZEROS = torch.zeros(1, 4)


class _Cache:
    def __init__(self) -> None:
        self.value = _NO_VALUE

    def get(self, make: Any) -> torch.Tensor:
        if self.value is _NO_VALUE:
            self.value = make()
        return self.value


@program()
class SentinelCache(FourNumbers):
    """A cache whose sentinel shows if it is filled."""

    def build(self) -> None:
        self.cache, self.other = _Cache(), _Cache()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs * self.cache.get(lambda: torch.full((4,), 2.0))


@program()
class SameTensor(FourNumbers):
    """Two attributes hold one tensor, and the program compares their identity."""

    def build(self) -> None:
        self.a = self.b = torch.full((4,), 0.3)
        self.list = [self.a, self.a.clone(), self.b]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        same = self.a is self.b and self.list[0] is self.list[2] and self.list[1] is not self.a
        return obs * self.a if same else obs - 1


@program()
class KeyedById(FourNumbers):
    """Gains in a dictionary whose keys are ids of tensors."""

    def build(self) -> None:
        self.parts = [torch.full((4,), 0.1), torch.full((4,), 0.2)]
        self.again = list(self.parts)
        self.gains = {id(part): 2.0 + i for i, part in enumerate(self.parts)}
        self.by_tensor = {part: i for i, part in enumerate(self.parts)}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        for part in self.again:
            obs = obs + part * self.gains.get(id(part), 100.0) + self.by_tensor.get(part, 100)
        return obs


class _Marked(torch.Tensor):
    pass


@program()
class ExactTypes(FourNumbers):
    """Branches on the exact class of its attributes and arguments."""

    def build(self) -> None:
        self.bias = torch.full((4,), 0.5)
        self.bias_again = self.bias
        self.scale = nn.Parameter(torch.ones(4))
        self.marked = torch.ones(4).as_subclass(_Marked)  # type: ignore[arg-type]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        kinds = [type(each) for each in (obs, self.bias, self.bias_again, self.scale, self.marked)]
        expected = [torch.Tensor, torch.Tensor, torch.Tensor, nn.Parameter, _Marked]
        return obs + self.bias if kinds == expected else obs * 0


@program()
class WeaklyReferred(FourNumbers):
    """Weak references to tensors and objects, which live as long as the program holds them."""

    def build(self) -> None:
        self.bias = torch.full((4,), 0.5)
        self.also = {"bias": self.bias}
        self.reference = weakref.ref(self.bias)
        self.table = weakref.WeakValueDictionary({"bias": self.bias})

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        found = self.reference()
        if found is None or self.table.get("bias") is not self.also["bias"]:
            return obs * 0
        return obs + found


class _Owner:
    pass


@program()
class GoneObjects(FourNumbers):
    """An object is destroyed as soon as the program releases it."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        owner = _Owner()
        gone = weakref.ref(owner)
        del owner
        return obs * 2 if gone() is None else obs * 3


@program(traced=5)
class AliasesInADeque(FourNumbers):
    """A history that starts with one tensor in every place."""

    def build(self) -> None:
        self.history = collections.deque([torch.zeros(1, 4)] * 3, maxlen=3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.history.append(obs)
        first, second, third = self.history
        return first + 2 * second + 3 * third


@program(traced=4)
class AliasesInAttributes(FourNumbers):
    """Two states that start as one tensor."""

    def build(self) -> None:
        self.fast = self.slow = torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.fast = 0.5 * self.fast + obs
        self.slow = 0.9 * self.slow + 0.1 * obs
        return self.fast - self.slow


@program(traced=4)
class AliasOfAModule(FourNumbers):
    """State that starts as a tensor of the module."""

    def build(self) -> None:
        self.h, self.g = _ZEROS, _ZEROS

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.h = 0.5 * self.h + obs
        return self.h + self.g if self.g is _ZEROS else obs


@program(traced=4)
class AliasAndConstant(FourNumbers):
    """The first value of a state is also a constant elsewhere."""

    def build(self) -> None:
        self.default = torch.full((1, 4), 0.7)
        self.last = self.default

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = obs + self.default - 0.5 * self.last
        self.last = action
        return action


class _Slots:
    __slots__ = ("bias", "same")

    def __init__(self, bias: torch.Tensor) -> None:
        self.bias = self.same = bias


@program()
class InSlots(FourNumbers):
    """An object without a dict."""

    def build(self) -> None:
        self.slots = _Slots(torch.full((4,), 0.4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs + self.slots.bias if self.slots.bias is self.slots.same else obs


@dataclasses.dataclass(frozen=True)
class _Config:
    pose: torch.Tensor
    also: torch.Tensor
    gain: float = 0.25


@program()
class FrozenConfig(FourNumbers):
    """A frozen dataclass that is compared by the identity of its members."""

    def build(self) -> None:
        pose = torch.full((4,), 0.4)
        self.config = _Config(pose, pose)
        self.pose = pose

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        same = self.config.pose is self.config.also is self.pose
        return (obs - self.config.pose) * self.config.gain if same else obs


@program()
class ClassAttributes(FourNumbers):
    """Tensors of a class, shared by its instances."""

    pose = torch.full((4,), 0.4)
    same = pose
    seen: dict[str, torch.Tensor] = {"pose": pose}  # noqa: RUF012

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        cls = type(self)
        same = cls.pose is cls.same and self.seen["pose"] is self.pose
        return obs - self.pose if same else obs


@program()
class InAClosure(FourNumbers):
    """Tensors shared by functions, and default arguments."""

    def build(self) -> None:
        pose = torch.full((4,), 0.4)

        def is_pose(value: torch.Tensor, pose: torch.Tensor = pose) -> bool:
            return value is pose

        def offset(obs: torch.Tensor) -> torch.Tensor:
            return obs - pose if is_pose(pose) else obs

        self.offset, self.pose = offset, pose

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.offset(obs)


class _Counting:
    """Counts every call of its own code."""

    ran = 0

    def __init__(self) -> None:
        vars(self).update(ran=0, held=torch.full((4,), 0.3))

    def _note(self, *_: Any) -> Any:
        vars(self)["ran"] += 1
        return 0

    __eq__ = __len__ = __bool__ = __hash__ = __getitem__ = __contains__ = _note  # type: ignore[assignment]
    value = property(_note)

    def __getattr__(self, name: str) -> Any:
        self._note()
        raise AttributeError(name)

    def __iter__(self) -> Any:
        self._note()
        return iter(())

    def __repr__(self) -> str:
        self._note()
        return "counting"


class _CountingList(list[Any]):
    ran = 0

    def _note(self, *_: Any) -> Any:
        self.ran += 1
        return 0

    __len__ = __bool__ = __eq__ = _note  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Any:
        self._note()
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        self._note()
        return super().__getitem__(index)


class _CountingDict(dict[str, Any]):
    ran = 0

    def _note(self, *_: Any) -> Any:
        self.ran += 1
        return []

    keys = values = items = _note  # type: ignore[assignment]

    def __iter__(self) -> Any:
        self._note()
        return super().__iter__()

    def __missing__(self, key: str) -> Any:
        self._note()
        return None


class _CountingMeta(type):
    ran = 0

    def __getattribute__(cls, name: str) -> Any:
        if name != "ran" and not name.startswith("__"):
            _CountingMeta.ran += 1
        return super().__getattribute__(name)

    def __instancecheck__(cls, instance: Any) -> bool:
        _CountingMeta.ran += 1
        return False


class _OfCountingMeta(metaclass=_CountingMeta):
    pose = torch.full((4,), 0.3)


class _CountingTensor(torch.Tensor):
    ran = 0

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        _CountingTensor.ran += 1
        return super().__torch_function__(func, types, args, kwargs or {})


@program()
class CountedAccess(FourNumbers):
    """Objects that count calls of their code; the output depends on the count."""

    def build(self) -> None:
        self.object, self.list, self.dict = (
            _Counting(),
            _CountingList([torch.ones(4)]),
            _CountingDict(),
        )
        dict.__setitem__(self.dict, "pose", torch.ones(4))
        self.inside = [self.object, (self.list, {"dict": self.dict})]
        self.of_meta = _OfCountingMeta
        self.tensor = torch.ones(4).as_subclass(_CountingTensor)  # type: ignore[arg-type]
        _CountingMeta.ran = _CountingTensor.ran = 0

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        ran = vars(self.object)["ran"] + self.list.ran + self.dict.ran
        return obs * 2 if ran + _CountingMeta.ran + _CountingTensor.ran == 0 else obs * 0


@program()
class CopiesKeepAliases(FourNumbers):
    """A deep copy of two names for one tensor has two names for one tensor again."""

    def build(self) -> None:
        pose = torch.full((4,), 0.4)
        self.parts = {"a": pose, "b": pose, "view": pose[:2]}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        parts = copy.deepcopy(self.parts)
        return obs - parts["a"] if parts["a"] is parts["b"] else obs


@program()
class Generations(FourNumbers):
    """Cyclic garbage is collected only when the program requests it."""

    def build(self) -> None:
        gc.collect()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        was_on = gc.isenabled()
        gc.disable()
        owner = _Owner()
        owner.itself = owner  # type: ignore[attr-defined]
        kept = weakref.ref(owner)
        del owner
        obs = obs.clone()
        alive = kept() is not None
        if was_on:
            gc.enable()
        return obs * 2 if alive else obs * 3


@program()
class Handles(FourNumbers):
    """Results of annotations have the class, layout and history of their arguments."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        told = (type(obs), obs.is_leaf, obs.requires_grad, obs.grad_fn, obs.stride(), obs._version)
        plain = (torch.Tensor, True, False, None, (4, 1), 0)
        return obs * 2 if told == plain else obs * 3


@program()
class PlainPython(FourNumbers):
    """Functions of Python and PyTorch are the ones that were imported."""

    def build(self) -> None:
        import random
        import time
        from concurrent.futures import Future

        self.modules = random, time, Future, torch
        self.functions = self.now()

    def now(self) -> list[int]:
        random, time, future, torch = self.modules
        found = [random.random, random.uniform, time.time, time.monotonic, future.result]
        return [*map(id, found), id(torch.rand), id(torch.cat)]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs * 2 if self.now() == self.functions else obs * 3


@program()
class ArraysAndNumbersOfNumPy(FourNumbers):
    """Branches by the identity, type, flags and base of arrays, and by the type of a number."""

    def build(self) -> None:
        self.pose, self.gain = np.arange(4, dtype=np.float32), np.float32(0.5)
        self.part, self.again = self.pose[1:], self.pose
        self.scales = {id(self.pose): 2.0}
        self.weak = weakref.ref(self.pose)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        array = obs.numpy()
        scale = self.scales.get(id(self.pose), 0.0)
        if type(self.pose) is np.ndarray and self.pose.flags.owndata:
            scale += 1
        if self.part.base is self.pose and self.again is self.pose and self.weak() is self.pose:
            scale += 2
        if type(self.gain) is np.float32:
            scale += 4
        return torch.from_numpy(array * self.gain + self.pose) * scale


class _Encoder(OneNode):
    size = (2, 5, 16)


def _layer() -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()


@program()
class FastAttention(_Encoder):
    """In inference mode, nn.MultiheadAttention runs a fused operator unless torch is overridden."""

    def build(self) -> None:
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True).eval()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.attention(obs, obs, obs, need_weights=False)[0]
        return out if not torch.overrides.has_torch_function((obs,)) else out * 0


@program()
class FastEncoderLayer(_Encoder):
    """The fused path of nn.TransformerEncoderLayer."""

    def build(self) -> None:
        self.layer = _layer()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.layer(obs)
        return out


@program()
class FastEncoder(_Encoder):
    """The fused path of nn.TransformerEncoder."""

    def build(self) -> None:
        self.encoder = nn.TransformerEncoder(_layer(), 2, enable_nested_tensor=False).eval()

    def sense(self, rng: torch.Generator) -> dict[str, torch.Tensor]:
        return {"policy/obs": normal(rng, *self.size)}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.encoder(obs)
        return out
