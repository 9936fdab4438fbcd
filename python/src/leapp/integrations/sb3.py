"""Stable-Baselines3: policies and ``model.zip`` files, with the statistics of VecNormalize.

    sb3.export_policy(model, "walker")
    sb3.export_checkpoint("model.zip", "walker", normalizer="vecnormalize.pkl")

The inputs of the bundle are the environment's observations (one port ``obs``, or one for each key
of a Dict space). It normalises them and outputs the deterministic ``action`` of ``model.predict``:
rescaled if it was squashed, otherwise clipped to the action space.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import os
from typing import TYPE_CHECKING, Any

from leapp.errors import LeappValueError

from . import _checkpoint, _policy, _sb3_files
from ._spaces import example_of, is_simple

if TYPE_CHECKING:
    import torch

__all__ = ["add_arguments", "export_checkpoint", "export_policy", "run"]


def export_policy(
    policy: Any,
    path: str | os.PathLike[str],
    *,
    normalizer: Any = None,
    channels_last: bool = False,
    backend: str = "onnx",
    frequency: float | None = None,
    verbose: bool = False,
) -> str:
    """Write the bundle of an algorithm or of its policy; return the path of its YAML file.

    Args:
        policy: The algorithm, whose VecNormalize is used automatically, or ``model.policy``.
        path: The bundle's directory.
        normalizer: A VecNormalize to use instead, the path of a saved one, or False for none.
        channels_last: Image inputs have the layout of cameras, height x width x channels.
        backend: ``"onnx"`` or ``"jit"``.
        frequency: Rate of the policy in Hz.
        verbose: Show the whole log on the console.
    """
    _checkpoint.library("stable_baselines3", "stable-baselines3")
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.policies import BasePolicy

    if isinstance(policy, BaseAlgorithm):
        if normalizer is None:
            normalizer = policy.get_vec_normalize_env()
        policy = policy.policy
    if not isinstance(policy, BasePolicy):
        raise _checkpoint.unsupported(
            f"sb3.export_policy() takes an algorithm or a policy of Stable-Baselines3, got "
            f"{type(policy).__name__}."
        )
    if isinstance(normalizer, (str, os.PathLike)):
        normalizer = _sb3_files.read_normalizer(normalizer, trusted=False)
    tick = _Tick(_policy.frozen(policy), normalizer or None, channels_last)
    return _policy.export(tick, path, backend, frequency, verbose)


def export_checkpoint(
    checkpoint: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    normalizer: str | os.PathLike[str] | bool | None = None,
    trust: str | None = None,
    **options: Any,
) -> str:
    """Write the bundle of a file that ``model.save`` wrote; return the path of its YAML file.

    Args:
        checkpoint: The ``.zip`` file. Only the description of the policy is read from it.
        path: The bundle's directory.
        normalizer: The file that ``VecNormalize.save`` wrote; False exports the bare policy of a
            model that was trained with one.
        trust: ``"code"`` lets the files run code, which files with your own classes need.
        options: As in :func:`export_policy`.
    """
    trusted = _checkpoint.check_trust(trust)
    saved = _sb3_files.read_model(checkpoint, trusted=trusted)
    if normalizer is None and saved.normalized:
        raise LeappValueError.coded(
            "LP804",
            f"{checkpoint}: was trained with VecNormalize, whose statistics are in a separate "
            "file. Give it with normalizer=.. or --normalizer (False, or --no-normalizer, "
            f"exports the policy without).",
        )
    statistics: Any = False
    if normalizer is not None and not isinstance(normalizer, bool):
        statistics = _sb3_files.read_normalizer(normalizer, trusted=trusted)
    return export_policy(saved.policy, path, normalizer=statistics, **options)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this integration's arguments."""
    parser.add_argument("checkpoint", metavar="MODEL.zip", help="the file that model.save() wrote")
    parser.add_argument(
        "--normalizer", metavar="FILE", help="the file that VecNormalize.save() wrote"
    )
    parser.add_argument(
        "--no-normalizer",
        dest="normalizer",
        action="store_const",
        const=False,
        help="export without the VecNormalize of the training",
    )
    parser.add_argument(
        "--channels-last", action="store_true", help="take images as height x width x channels"
    )
    _checkpoint.add_arguments(parser)


def run(arguments: argparse.Namespace) -> str:
    """Export with these arguments; return the path of the YAML file."""
    return export_checkpoint(**vars(arguments))


class _Tick(_policy.Policy):
    """The tensor operations of ``predict`` around a policy."""

    def __init__(self, policy: Any, normalizer: Any, channels_last: bool) -> None:
        import torch
        from gymnasium import spaces

        self._policy = policy
        self._space = copy.deepcopy(policy.observation_space)
        self._single = not isinstance(self._space, spaces.Dict)
        self._spaces = {"obs": self._space} if self._single else dict(self._space.spaces)
        for name, space in self._spaces.items():
            if not is_simple(space):
                raise _checkpoint.unsupported(
                    f"the observation '{name}' has the space {space}, which policies of "
                    "Stable-Baselines3 do not support. Flatten it in the environment."
                )
        self._statistics = _statistics(normalizer, self._spaces, self._single)
        self._last = {
            name
            for name, space in self._spaces.items()
            if channels_last and _is_channels_first(space)
        }
        parameters = inspect.signature(policy._predict).parameters
        self._recurrent = "lstm_states" in parameters
        self._masked = "action_masks" in parameters
        hidden = "hc" if self._recurrent else ""
        states = {name: torch.zeros(policy.lstm_hidden_state_shape) for name in hidden}
        super().__init__(self._step, self._sample, states)

    def _sample(self) -> dict[str, torch.Tensor]:
        import torch

        inputs = {}
        for name, space in self._spaces.items():
            value = example_of(space, real=name in self._statistics)
            inputs[name] = value.permute(0, 2, 3, 1) if name in self._last else value
        if self._masked:
            mask = torch.rand(1, _choices(self._policy.action_space)) < 0.7
            inputs["action_masks"] = mask.contiguous()
        return inputs

    def _step(self, inputs: Any, states: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        import torch

        seen = {name: self._preprocess(name, inputs[name]) for name in self._spaces}
        observation = seen["obs"] if self._single else seen
        further = {"action_masks": inputs["action_masks"]} if self._masked else {}
        if not self._recurrent:
            action = self._policy._predict(observation, deterministic=True, **further)
            return {"action": self._in_domain(action)}, {}
        action, (h, c) = self._policy._predict(
            observation,
            lstm_states=(states["h"], states["c"]),
            episode_starts=torch.zeros(1),  # a reset restores the initial states
            deterministic=True,
        )
        return {"action": self._in_domain(action)}, {"h": h, "c": c}

    def _preprocess(self, name: str, value: torch.Tensor) -> torch.Tensor:
        """Transpose and normalise one observation, in the order of the environment's wrappers."""
        if name in self._last:
            value = value.permute(0, 3, 1, 2)
        if name in self._statistics:
            mean, deviation, limit = self._statistics[name]
            # In double precision, as VecNormalize does.
            value = ((value.double() - mean) / deviation).clamp(-limit, limit).float()
        return value

    def _in_domain(self, action: torch.Tensor) -> torch.Tensor:
        """Convert the network's result to the action space."""
        import torch
        from gymnasium import spaces

        space = self._policy.action_space
        action = action.reshape((-1, *space.shape))
        if not isinstance(space, spaces.Box):
            return action
        low, high = torch.as_tensor(space.low), torch.as_tensor(space.high)
        if self._policy.squash_output:
            return low + 0.5 * (action + 1.0) * (high - low)
        return torch.clamp(action, low, high)


def _statistics(normalizer: Any, spaces: dict[str, Any], single: bool) -> dict[str, Any]:
    """Return mean, deviation and limit of each observation that VecNormalize normalises."""
    import numpy as np
    import torch

    if normalizer is None or not normalizer.norm_obs:
        return {}
    moments = {"obs": normalizer.obs_rms} if single else normalizer.obs_rms
    moments = moments if isinstance(moments, dict) else {"": moments}
    found = {}
    for name, moment in moments.items():
        shape = spaces[name].shape if name in spaces else None
        if not hasattr(moment, "mean") or moment.mean.shape != shape:
            has = list(getattr(getattr(moment, "mean", None), "shape", ()))
            raise LeappValueError.coded(
                "LP802",
                "the VecNormalize belongs to a different environment: it normalises "
                f"'{name or 'obs'}' of shape {has}, but the policy observes "
                f"{ {key: list(space.shape) for key, space in spaces.items()} }.",
            )
        deviation = np.sqrt(moment.var + normalizer.epsilon)
        limit = float(normalizer.clip_obs)
        found[name] = (torch.as_tensor(moment.mean), torch.as_tensor(deviation), limit)
    return found


def _is_channels_first(space: Any) -> bool:
    from stable_baselines3.common.preprocessing import (
        is_image_space,
        is_image_space_channels_first,
    )

    return bool(is_image_space(space) and is_image_space_channels_first(space))


def _choices(space: Any) -> int:
    """Return the number of entries of a mask over the actions."""
    from gymnasium import spaces

    if isinstance(space, spaces.MultiDiscrete):
        return int(space.nvec.sum())
    if isinstance(space, spaces.MultiBinary):
        return 2 * int(space.n)
    return int(space.n)
