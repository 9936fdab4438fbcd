"""RSL-RL: actors and checkpoints, with their normaliser and recurrent state.

    rsl_rl.export_policy(runner.get_inference_policy(), "walker")
    rsl_rl.export_checkpoint("logs/model_1500.pt", "walker")

Ports are named as in RSL-RL's own ONNX files: ``obs`` contains the one-dimensional observation
groups in order, each image has its own port, and the output is ``actions``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leapp.errors import LeappValueError

from . import _checkpoint, _policy, _rsl_rl_files

if TYPE_CHECKING:
    import torch

__all__ = ["add_arguments", "export_checkpoint", "export_policy", "run"]


def export_policy(
    policy: Any,
    path: str | os.PathLike[str],
    *,
    backend: str = "onnx",
    frequency: float | None = None,
    verbose: bool = False,
) -> str:
    """Write the bundle of an actor; return the path of its YAML file.

    Args:
        policy: ``runner.get_inference_policy()``, ``runner.alg.actor`` or the runner itself; a
            module with ``act_inference``, as before RSL-RL 4, must be given as a checkpoint.
        path: The bundle's directory.
        backend: ``"onnx"`` or ``"jit"``.
        frequency: Rate of the policy in Hz.
        verbose: Show the whole log on the console.
    """
    if hasattr(policy, "alg"):
        policy = policy.alg.get_policy()
    missing = [name for name in _NEEDED if not hasattr(policy, name)]
    if missing:
        raise _checkpoint.unsupported(
            f"rsl_rl.export_policy() takes a runner or a model of RSL-RL 4 or newer; "
            f"{type(policy).__name__} has no {', '.join(missing)}. Export the checkpoint of an "
            f"older one."
        )
    return _policy.export(_Tick(_policy.frozen(policy)), path, backend, frequency, verbose)


def export_checkpoint(
    checkpoint: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    activation: str | None = None,
    images: Mapping[str, Sequence[int]] | None = None,
    trust: str | None = None,
    **options: Any,
) -> str:
    """Write the bundle of a ``model_*.pt`` file; return the path of its YAML file.

    Args:
        checkpoint: The file, of RSL-RL 2 or newer.
        path: The bundle's directory.
        config: The configuration of the training, as a dict or a YAML file; by default
            ``params/agent.yaml`` next to the checkpoint, where Isaac Lab and mjlab write it.
        activation: The activation function, for a checkpoint without a configuration, because
            weights do not show it.
        images: Channels, height and width of each image input of the actor.
        trust: ``"code"`` lets the file run code, and the configuration name your own classes.
        options: As in :func:`export_policy`.
    """
    trusted = _checkpoint.check_trust(trust)
    saved = _rsl_rl_files.read(checkpoint, trust=trust)
    config = _checkpoint.config_of(config, checkpoint, levels=1)
    actor = _rsl_rl_files.make_actor(
        saved, config or {}, activation, dict(images or {}), trusted=trusted
    )
    return export_policy(actor, path, **options)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this integration's arguments."""
    parser.add_argument(
        "checkpoint", metavar="MODEL.pt", help="the checkpoint that the runner saved"
    )
    parser.add_argument(
        "--config", metavar="AGENT.yaml", help="default: params/agent.yaml next to the checkpoint"
    )
    parser.add_argument(
        "--activation", help="the activation function, if there is no configuration"
    )
    parser.add_argument(
        "--image",
        dest="images",
        action="append",
        default=[],
        metavar="NAME=CxHxW",
        help="the size of an image input of the actor",
    )
    _checkpoint.add_arguments(parser)


def run(arguments: argparse.Namespace) -> str:
    """Export with these arguments; return the path of the YAML file."""
    arguments.images = dict(map(_image, arguments.images))
    return export_checkpoint(**vars(arguments))


#: Methods and attributes that an actor must have.
_NEEDED = ("obs_groups", "obs_dim", "get_hidden_state", "reset")


def _image(text: str) -> tuple[str, list[int]]:
    """Read ``name=3x64x64``."""
    name, _, sizes = text.partition("=")
    if not name or len(sizes.split("x")) != 3 or not all(map(str.isdigit, sizes.split("x"))):
        raise LeappValueError.coded("LP003", f"--image takes NAME=CxHxW, got '{text}'.")
    return name, [int(size) for size in sizes.split("x")]


class _Tick(_policy.Policy):
    """An actor as a function of its observations and its hidden state."""

    def __init__(self, actor: Any) -> None:
        import torch

        self._actor = actor
        parts = (getattr(actor, f"obs_{part}_2d", []) for part in ("groups", "channels", "dims"))
        images = {name: (1, channels, *size) for name, channels, size in zip(*parts, strict=True)}
        self._shapes = ({"obs": (1, actor.obs_dim)} if actor.obs_groups else {}) | images
        actor.reset()
        with torch.no_grad():
            actor(self._groups(self._sample()))
        states = {name: torch.zeros_like(state) for name, state in self._hidden().items()}
        super().__init__(self._step, self._sample, states)

    def _sample(self) -> dict[str, torch.Tensor]:
        import torch

        return {name: torch.randn(shape) for name, shape in self._shapes.items()}

    def _step(self, inputs: Any, states: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        given = tuple(states.values())
        self._actor.reset(hidden_state=given[0] if len(given) == 1 else given or None)
        return {"actions": self._actor(self._groups(inputs))}, self._hidden()

    def _groups(self, inputs: Any) -> dict[str, Any]:
        """Return the observation groups. The first one contains all vectors.

        The actor concatenates them first, and does not know their sizes.
        """
        groups = dict(inputs)
        obs = groups.pop("obs", None)
        for name in self._actor.obs_groups:
            groups[name] = obs
            obs = obs[:, :0]
        return groups

    def _hidden(self) -> dict[str, torch.Tensor]:
        """Return the hidden state by name."""
        state = self._actor.get_hidden_state()
        if state is None:
            return {}
        return dict(zip("hc", state if isinstance(state, tuple) else (state,), strict=False))
