"""TorchRL: actors of TensorDict modules, with the transforms of their environment.

    torchrl.export_policy(actor, "walker", env)
    torchrl.export_checkpoint("actor.pt", "walker", actor, env)

The inputs of the bundle are the environment's observations before its transforms (ObservationNorm,
VecNorm, CatTensors, ..), with one port for each key. Its output is the deterministic ``action``. A
value that an actor reads as ``key`` and writes as ``("next", key)`` is its state.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from leapp.errors import LeappValueError

from . import _checkpoint, _policy

if TYPE_CHECKING:
    import torch

__all__ = ["add_arguments", "export_checkpoint", "export_policy", "run"]


def export_policy(
    policy: Any,
    path: str | os.PathLike[str],
    observed: Any,
    *,
    transforms: Iterable[Any] | None = None,
    action_key: str | tuple[str, ...] = "action",
    backend: str = "onnx",
    frequency: float | None = None,
    verbose: bool = False,
) -> str:
    """Write the bundle of an actor; return the path of its YAML file.

    Args:
        policy: The actor, any TensorDictModule.
        path: The bundle's directory.
        observed: The environment, or an example of its observations: a TensorDict or a dict of
            tensors with a batch dimension first.
        transforms: Transforms of the observations before the actor; by default the environment's.
        action_key: The key of the actor's action.
        backend: ``"onnx"`` or ``"jit"``.
        frequency: Rate of the policy in Hz.
        verbose: Show the whole log on the console.
    """
    _checkpoint.library("torchrl.envs", "torchrl")
    import torch

    if not (isinstance(policy, torch.nn.Module) and hasattr(policy, "in_keys")):
        raise _checkpoint.unsupported(
            f"torchrl.export_policy() takes a TensorDictModule, got {type(policy).__name__}."
        )
    # Transforms have weak references to it, so it must stay alive.
    inner, own = _unwrapped(observed)
    given = own if transforms is None else transforms
    given = _flattened([given] if hasattr(given, "transforms") else given)
    tick = _Tick(_policy.frozen(policy), action_key, inner, given)
    return _policy.export(tick, path, backend, frequency, verbose)


def export_checkpoint(
    checkpoint: str | os.PathLike[str],
    path: str | os.PathLike[str],
    policy: Any,
    observed: Any,
    *,
    key: str | None = None,
    trust: str | None = None,
    **options: Any,
) -> str:
    """Write the bundle of an actor whose weights are in a file; return the path of its YAML file.

    Args:
        checkpoint: A file of ``torch.save(actor.state_dict(), ..)``, or of a dict of state dicts.
        path: The bundle's directory.
        policy: The actor that receives the weights.
        observed: As in :func:`export_policy`.
        key: The key of the actor's state dict in the file.
        trust: ``"code"`` lets the file run code.
        options: As in :func:`export_policy`.
    """
    expected = "a state dict of the actor"
    found = _checkpoint.load_tensors(checkpoint, expected, trust=trust)
    if key is not None:
        found = _checkpoint.state_dict_of(found, key, checkpoint, expected)
    elif not _checkpoint.is_state_dict(found):
        holds = sorted(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
        raise _checkpoint.not_a_checkpoint(
            checkpoint, expected, f"{holds}; select the actor with key=.. or --key"
        )
    actor = _policy.frozen(policy)
    _checkpoint.load_weights(actor, found, checkpoint, type(actor).__name__)
    return export_policy(actor, path, observed, **options)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this integration's arguments."""
    parser.add_argument("checkpoint", metavar="ACTOR.pt", help="a state dict of the actor")
    parser.add_argument(
        "--model",
        required=True,
        metavar="FILE.py:FUNCTION",
        help="your function that returns the actor and its environment, or an example",
    )
    parser.add_argument("--key", help="the key of the actor's state dict in the file")
    _checkpoint.add_arguments(parser)


def run(arguments: argparse.Namespace) -> str:
    """Export with these arguments; return the path of the YAML file."""
    options = vars(arguments)
    place = options.pop("model")
    made = _checkpoint.from_file(place)()
    if not isinstance(made, tuple) or len(made) != 2:
        raise LeappValueError.coded(
            "LP003",
            f"{place}: expected the actor and its environment, or an example of its observations, "
            f"got {type(made).__name__}.",
        )
    return export_checkpoint(policy=made[0], observed=made[1], **options)


class _Tick(_policy.Policy):
    """An actor, and the transforms before it, as a function of observations and states."""

    def __init__(self, actor: Any, action_key: Any, observed: Any, transforms: list[Any]) -> None:
        import torch

        self._actor = actor
        self._action_key = action_key
        given, left = set(map(_key, actor.in_keys)), set(map(_key, actor.out_keys))
        self._state_keys = [key for key in sorted(given) if ("next", *key) in left]
        needed = given - set(self._state_keys) - {("is_init",)}
        #: The transforms between the observations and the actor.
        self._chain: list[Any] = []
        for transform in reversed(transforms):
            made = set(map(_key, transform.out_keys or []))
            if not made & needed:
                continue  # rewards, counters and similar entries
            needed = (needed - made) | set(map(_key, transform.in_keys or []))
            self._chain.insert(0, _inference(transform))
        self._sources = sorted(needed)
        sample = _sampler(observed, self._sources)
        with torch.no_grad():
            _, first = self._step(sample(), {})
        # Without states, an actor starts with its own zeros.
        states = {name: torch.zeros_like(value) for name, value in first.items()}
        super().__init__(self._step, sample, states)

    def _step(self, inputs: Any, states: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        import torch
        from tensordict import TensorDict
        from torchrl.envs.utils import ExplorationType, set_exploration_type

        data = TensorDict({"is_init": torch.zeros(1, 1, dtype=torch.bool)}, batch_size=[1])
        for key in self._sources:
            data.set(key, inputs[_name(key)])
        for transform in self._chain:
            data = transform._call(data)
        for key in self._state_keys:
            if _name(key) in states:
                data.set(key, states[_name(key)])
        with set_exploration_type(ExplorationType.DETERMINISTIC):
            data = self._actor(data)
        left = {_name(key): data.get(("next", *key)) for key in self._state_keys}
        return {_name(_key(self._action_key)): data.get(self._action_key)}, left


def _key(key: Any) -> tuple[str, ...]:
    return key if isinstance(key, tuple) else (key,)


def _name(key: tuple[str, ...]) -> str:
    return "_".join(key)


def _unwrapped(observed: Any) -> tuple[Any, list[Any]]:
    """Return an environment without its transforms, and these from the inside out."""
    found: list[Any] = []
    while hasattr(observed, "transform") and hasattr(observed, "base_env"):
        found.insert(0, observed.transform)
        observed = observed.base_env
    return observed, found


def _flattened(transforms: Iterable[Any]) -> list[Any]:
    """Return single transforms, including those inside others."""
    found = []
    for transform in transforms:
        inner = getattr(transform, "transforms", None)
        found += [transform] if inner is None else _flattened(inner)
    return found


def _inference(transform: Any) -> Any:
    """Return a transform for use on a robot; raise if it is unknown."""
    from torchrl.envs.transforms import CatTensors, Transform

    name = type(transform).__name__
    missing = LeappValueError.coded(
        "LP804",
        f"the transform {name} of {transform.in_keys} has no statistics yet. Give the environment "
        "of the training, or load the transform's state dict.",
    )
    if hasattr(transform, "to_observation_norm"):
        try:
            transform = transform.to_observation_norm()
        except (AttributeError, KeyError, RuntimeError, TypeError) as error:
            raise missing from error
    if not getattr(transform, "initialized", True):
        raise missing
    if type(transform)._call is not Transform._call and not isinstance(transform, CatTensors):
        raise _checkpoint.unsupported(
            f"the transform {name} of {transform.in_keys} depends on more than the observation. "
            "Apply it on the robot, and give transforms=.. without it."
        )
    return _policy.frozen(transform.clone())


def _sampler(observed: Any, keys: list[tuple[str, ...]]) -> Callable[[], dict[str, torch.Tensor]]:
    """Return a function that returns random inputs; real numbers of an example are varied."""
    import torch

    spec = getattr(observed, "observation_spec", None)

    def sample() -> dict[str, torch.Tensor]:
        data = observed if spec is None else spec.rand()
        batched = spec is None or len(observed.batch_size) > 0
        found = {}
        for key in keys:
            value = _leaf(data, key)
            if isinstance(value, torch.Tensor):
                value = value.detach().cpu()
                value = value[:1] if batched else value.unsqueeze(0)
                moved = spec is None and value.is_floating_point()
                found[_name(key)] = value + torch.randn_like(value) if moved else value.clone()
        missing = [_name(key) for key in keys if _name(key) not in found]
        if missing:
            raise _checkpoint.unsupported(
                f"the actor needs {missing}, which is not in the observations. Pass an example "
                "that contains it."
            )
        return found

    return sample


def _leaf(data: Any, key: tuple[str, ...]) -> Any:
    """Return the value under a key of nested dicts or TensorDicts, or None."""
    for part in key:
        if part not in list(data.keys()):
            return None
        data = data[part]
    return data
