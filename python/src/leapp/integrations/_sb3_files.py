"""The files of Stable-Baselines3: ``model.zip``, and the pickle of a VecNormalize."""

from __future__ import annotations

import base64
import inspect
import io
import json
import os
import pickle
import zipfile
from typing import Any, NamedTuple

from . import _checkpoint

_EXPECTED = "a .zip file that model.save() of Stable-Baselines3 wrote"


class SavedModel(NamedTuple):
    """What a ``model.zip`` says about its policy.

    Attributes:
        policy: The policy with its weights.
        normalized: Whether it learned from a VecNormalize, as far as the file tells: of algorithms
            with a replay buffer it does not.
    """

    policy: Any
    normalized: bool


class _Unpickler(_checkpoint.Unpickler):
    def allows(self, found: Any) -> bool:
        from gymnasium import spaces
        from stable_baselines3.common.running_mean_std import RunningMeanStd
        from stable_baselines3.common.vec_env import VecNormalize

        data = (spaces.Space, RunningMeanStd, VecNormalize)
        return super().allows(found) or (isinstance(found, type) and issubclass(found, data))


def read_model(path: str | os.PathLike[str], *, trusted: bool) -> SavedModel:
    """Make the policy that a ``model.zip`` describes; nothing else of the file is unpickled."""
    file = _checkpoint.existing(path)
    entries = _read_entries(file)
    _checkpoint.library("stable_baselines3", "stable-baselines3")
    try:
        data = json.loads(entries["data"])
    except ValueError as error:
        raise _checkpoint.not_a_checkpoint(file, _EXPECTED, "'data' that is no JSON") from error
    policy = _make_policy(file, data, trusted)
    weights = _checkpoint.load_stream(io.BytesIO(entries["policy.pth"]), file, _EXPECTED)
    _checkpoint.load_weights(policy, weights, file, f"its own {type(policy).__name__}")
    on_policy = "replay_buffer_class" not in data
    return SavedModel(policy, on_policy and data.get("_last_original_obs") is not None)


def read_normalizer(path: str | os.PathLike[str], *, trusted: bool) -> Any:
    """Return the VecNormalize that a file holds, without its environment."""
    file = _checkpoint.existing(path)
    _checkpoint.library("stable_baselines3", "stable-baselines3")
    from stable_baselines3.common.vec_env import VecNormalize

    expected = "a file that VecNormalize.save() wrote"
    with open(file, "rb") as stream:
        found = _unpickle(stream, file, expected, trusted)
    if not isinstance(found, VecNormalize):
        raise _checkpoint.not_a_checkpoint(file, expected, type(found).__name__)
    return found


def _read_entries(file: str) -> dict[str, bytes]:
    """Return the archive's members that matter here."""
    names = ("data", "policy.pth")
    try:
        with zipfile.ZipFile(file) as archive:
            held = archive.namelist()
            if all(name in held for name in names):
                return {name: archive.read(name) for name in names}
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise _checkpoint.not_a_checkpoint(file, _EXPECTED, "no archive") from error
    raise _checkpoint.not_a_checkpoint(file, _EXPECTED, f"an archive of {held[:4]}")


def _make_policy(file: str, data: dict[str, Any], trusted: bool) -> Any:
    """Make the policy, with weights of its own making."""
    from stable_baselines3.common.policies import BasePolicy

    kind = _decoded(file, data, "policy_class", trusted)
    if not (isinstance(kind, type) and issubclass(kind, BasePolicy)):
        raise _checkpoint.not_a_checkpoint(file, _EXPECTED, f"the policy class {kind!r}")
    arguments = _decoded(file, data, "policy_kwargs", trusted) or {}
    accepted = inspect.signature(kind).parameters
    if "lr_schedule" in accepted:
        arguments.setdefault("lr_schedule", lambda _: 0.0)
    if "use_sde" in accepted:
        arguments.setdefault("use_sde", bool(data.get("use_sde", False)))
    spaces = (_decoded(file, data, f"{name}_space", trusted) for name in ("observation", "action"))
    return kind(*spaces, **arguments)


def _decoded(file: str, data: dict[str, Any], key: str, trusted: bool) -> Any:
    """Return one entry of the file's data, which is plain JSON or a pickle in it."""
    if key not in data:
        raise _checkpoint.not_a_checkpoint(file, _EXPECTED, f"no '{key}' in its data")
    value = data[key]
    if not (isinstance(value, dict) and ":serialized:" in value):
        return value
    stream = io.BytesIO(base64.b64decode(value[":serialized:"]))
    return _unpickle(stream, f"{file} ({key})", _EXPECTED, trusted)


def _unpickle(stream: Any, file: str, expected: str, trusted: bool) -> Any:
    """Return what a pickle holds; raise if it is none, or would run code."""
    try:
        return _Unpickler(stream, file, trusted=trusted).load()
    except (pickle.UnpicklingError, EOFError, ImportError, AttributeError, IndexError) as error:
        raise _checkpoint.not_a_checkpoint(
            file, expected, f"what cannot be unpickled: {error}"
        ) from error
