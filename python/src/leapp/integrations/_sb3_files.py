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
    """The policy of a ``model.zip``.

    Attributes:
        policy: The policy with its weights.
        normalized: True if it was trained with a VecNormalize. Files of algorithms with a replay
            buffer do not show this.
    """

    policy: Any
    normalized: bool


class _Unpickler(pickle.Unpickler):
    """Unpickles data; refuses classes and functions that do more than hold data.

    Args:
        stream: The file.
        path: Its name, for messages.
        trusted: True to allow everything.
    """

    def __init__(self, stream: Any, path: object, *, trusted: bool) -> None:
        super().__init__(stream)
        self._path = path
        self._trusted = trusted

    def find_class(self, module: str, name: str) -> Any:
        """Return the class or function that the file names, if it is safe."""
        if self._trusted or (module, name) in _DATA:
            return super().find_class(module, name)
        if module.startswith(_LIBRARIES):
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, _data_classes()):
                return found
        raise _checkpoint.untrusted(self._path, f"{module}.{name}")


def _data_classes() -> tuple[type, ...]:
    """Return the libraries' base classes; creating one of their subclasses runs no other code."""
    import torch
    from gymnasium import spaces
    from stable_baselines3.common.running_mean_std import RunningMeanStd
    from stable_baselines3.common.vec_env import VecNormalize

    return (torch.nn.Module, torch.optim.Optimizer, spaces.Space, RunningMeanStd, VecNormalize)


def read_model(path: str | os.PathLike[str], *, trusted: bool) -> SavedModel:
    """Create the policy that a ``model.zip`` describes; nothing else in the file is unpickled."""
    file = _checkpoint.existing(path)
    entries = _read_entries(file)
    _checkpoint.library("stable_baselines3", "stable-baselines3")
    try:
        data = json.loads(entries["data"])
    except ValueError as error:
        raise _checkpoint.not_a_checkpoint(file, _EXPECTED, "'data' that is not JSON") from error
    policy = _make_policy(file, data, trusted)
    weights = _checkpoint.load_stream(io.BytesIO(entries["policy.pth"]), file, _EXPECTED)
    _checkpoint.load_weights(policy, weights, file, f"its own {type(policy).__name__}")
    on_policy = "replay_buffer_class" not in data
    return SavedModel(policy, on_policy and data.get("_last_original_obs") is not None)


def read_normalizer(path: str | os.PathLike[str], *, trusted: bool) -> Any:
    """Return the VecNormalize in a file, without its environment."""
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
    """Return the archive's relevant members."""
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
    """Create the policy with new weights."""
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
    """Return one entry of the file's data: plain JSON, or a pickle in it."""
    if key not in data:
        raise _checkpoint.not_a_checkpoint(file, _EXPECTED, f"no '{key}' in its data")
    value = data[key]
    if not (isinstance(value, dict) and ":serialized:" in value):
        return value
    stream = io.BytesIO(base64.b64decode(value[":serialized:"]))
    return _unpickle(stream, f"{file} ({key})", _EXPECTED, trusted)


def _unpickle(stream: Any, file: str, expected: str, trusted: bool) -> Any:
    """Return the content of a pickle; raise if it is not a pickle or would run code."""
    try:
        return _Unpickler(stream, file, trusted=trusted).load()
    except (pickle.UnpicklingError, EOFError, ImportError, AttributeError, IndexError) as error:
        raise _checkpoint.not_a_checkpoint(
            file, expected, f"data that cannot be unpickled: {error}"
        ) from error


#: Modules in which classes of policy descriptions are looked up.
_LIBRARIES = tuple(
    "gymnasium.spaces. torch.nn.modules. torch.optim. stable_baselines3. sb3_contrib.".split()
)

#: Functions and classes in pickles of NumPy's arrays and generators and of Python's containers.
_NUMPY_CORE = ("numpy.core", "numpy._core")
_DATA = {
    *(("builtins", name) for name in ("set", "frozenset", "slice", "complex", "bytearray")),
    ("collections", "OrderedDict"),
    ("_codecs", "encode"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    *((f"{core}.multiarray", name) for core in _NUMPY_CORE for name in ("_reconstruct", "scalar")),
    *((f"{core}.numeric", "_frombuffer") for core in _NUMPY_CORE),
    *((f"numpy.random._{kind}", kind.upper()) for kind in ("pcg64", "philox", "sfc64")),
    ("numpy.random._mt19937", "MT19937"),
    *(
        ("numpy.random._pickle", f"__{kind}_ctor")
        for kind in ("generator", "bit_generator", "randomstate")
    ),
    ("numpy.random.bit_generator", "SeedSequence"),
    ("numpy.random.bit_generator", "__pyx_unpickle_SeedSequence"),
    *(("numpy", name) for name in ("float32", "float64", "int64", "uint8", "int8", "bool_")),
    *(
        ("numpy.dtypes", f"{name}DType")
        for name in ("Float32", "Float64", "Int64", "UInt8", "Int8", "Bool")
    ),
}
