"""Reads files of trainers, without running their code unless the caller trusts them."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import pickle
import sys
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leapp.errors import LeappImportError, LeappNotFoundError, LeappValueError

if TYPE_CHECKING:
    import torch

#: The options that let a checkpoint run code.
TRUST_HINT = "If you trust its author, give trust='code' or --trust-code"


def library(module: str, package: str) -> Any:
    """Import a trainer's module; raise with the package to install if that fails."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise LeappImportError.coded(
            "LP006", f"{module} cannot be imported ({error}): run 'pip install {package}'."
        ) from error


def existing(path: str | os.PathLike[str]) -> str:
    """Return the file's path; raise if the file is missing."""
    file = os.path.expanduser(os.fspath(path))
    if not os.path.isfile(file):
        raise LeappNotFoundError.coded("LP004", f"{file}: the file was not found.")
    return file


def not_a_checkpoint(path: object, expected: str, found: str) -> LeappValueError:
    """Return the error for a file that the trainer did not write."""
    return LeappValueError.coded("LP801", f"{path}: expected {expected}, found {found}.")


def untrusted(path: object, held: str) -> LeappValueError:
    """Return the error for a file that names code which loading would run."""
    return LeappValueError.coded(
        "LP805",
        f"{path}: contains executable code ({held}), which loading would run. {TRUST_HINT}.",
    )


def unsupported(text: str) -> LeappValueError:
    """Return the error for a policy that a bundle cannot represent."""
    return LeappValueError.coded("LP803", text)


def check_trust(trust: str | None) -> bool:
    """Return whether a checkpoint may run code; raise for an invalid value."""
    if trust not in (None, "code"):
        raise LeappValueError.at_caller("LP003", f"trust must be None or 'code', got {trust!r}.")
    return trust == "code"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every integration that reads a checkpoint itself."""
    parser.add_argument("--frequency", type=float, metavar="HZ", help="rate of the policy in Hz")
    parser.add_argument(
        "--trust-code",
        dest="trust",
        action="store_const",
        const="code",
        help="let the files run code",
    )


def load_tensors(path: str | os.PathLike[str], expected: str, *, trust: str | None = None) -> Any:
    """Return the content of a ``torch.save`` file, on the CPU: data only, unless it is trusted."""
    trusted = check_trust(trust)
    file = existing(path)
    if not zipfile.is_zipfile(file) and not _is_pickle(file):
        raise not_a_checkpoint(file, expected, "a file that torch.save() did not write")
    with open(file, "rb") as stream:
        return load_stream(stream, file, expected, trusted=trusted)


def load_stream(stream: Any, file: str, expected: str, *, trusted: bool = False) -> Any:
    """Return the content of a part of such a file."""
    import torch

    try:
        return torch.load(stream, map_location="cpu", weights_only=not trusted)
    except pickle.UnpicklingError as error:
        reason = str(error).partition("Unsupported")[2].partition("\n")[0].strip()
        raise untrusted(file, reason or "objects of Python classes") from error
    except Exception as error:
        raise not_a_checkpoint(
            file, expected, f"a file that torch.load() rejects: {_first_line(error)}"
        ) from error


def state_dict_of(found: Any, key: str, path: object, expected: str) -> dict[str, torch.Tensor]:
    """Return one state dict of a checkpoint; raise if there is none with that name."""
    value: Any = found.get(key) if isinstance(found, Mapping) else None
    if not is_state_dict(value):
        holds = sorted(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
        raise not_a_checkpoint(path, expected, f"no weights under '{key}' (it holds: {holds})")
    return dict(value)


def is_state_dict(value: Any) -> bool:
    """Return whether the value is a dict of names and tensors."""
    import torch

    return (
        isinstance(value, Mapping)
        and len(value) > 0
        and all(isinstance(name, str) for name in value)
        and all(isinstance(tensor, torch.Tensor) for tensor in value.values())
    )


def load_weights(
    module: torch.nn.Module, weights: Mapping[str, torch.Tensor], path: object, whose: str
) -> None:
    """Load weights into a module; raise with the first differences if they do not match."""
    own = module.state_dict()
    faults = [f"'{name}' is missing" for name in own if name not in weights]
    faults += [f"'{name}' is not part of the model" for name in weights if name not in own]
    faults += [
        f"'{name}' should be {list(own[name].shape)}, not {list(tensor.shape)}"
        for name, tensor in weights.items()
        if name in own and own[name].shape != tensor.shape
    ]
    if faults:
        more = f", and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise LeappValueError.coded(
            "LP802",
            f"{path}: the weights do not match the architecture of {whose}: "
            f"{'; '.join(faults[:3])}{more}. Give the configuration of the training.",
        )
    module.load_state_dict(dict(weights))


def from_file(place: str) -> Any:
    """Run the user's file and return the function that ``"file.py:function"`` names."""
    path, colon, name = place.rpartition(":")
    if not colon:
        raise LeappValueError.coded("LP003", f"expected 'file.py:function', got '{place}'.")
    file = existing(path)
    stem = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(stem, file)
    if spec is None or spec.loader is None:
        raise LeappValueError.coded("LP003", f"{file}: is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(stem, module)  # classes of the file are looked up there
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise LeappValueError.coded("LP003", f"{file}: has no '{name}'.")
    return getattr(module, name)


def config_of(
    given: str | os.PathLike[str] | Mapping[str, Any] | None,
    checkpoint: str | os.PathLike[str],
    *,
    levels: int,
) -> Mapping[str, Any] | None:
    """Return the configuration of a training: the given one, or the one stored by the trainer.

    The latter is ``params/agent.yaml`` in the checkpoint's directory, or `levels` directories above
    it.
    """
    folder = os.path.abspath(os.fspath(checkpoint))
    while given is None and levels > 0:
        folder, levels = os.path.dirname(folder), levels - 1
        file = os.path.join(folder, "params", "agent.yaml")
        given = file if os.path.isfile(file) else None
    return given if given is None or isinstance(given, Mapping) else read_yaml(given)


def read_yaml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a trainer's configuration. Python objects in it are ignored; tuples become lists."""
    yaml = library("yaml", "PyYAML")

    class Loader(yaml.SafeLoader):  # type: ignore[name-defined, misc]
        """Creates data only."""

    def python_object(loader: Any, suffix: str, node: Any) -> Any:
        return loader.construct_sequence(node, deep=True) if suffix == "tuple" else None

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", python_object)
    file = existing(path)
    try:
        with open(file, encoding="utf-8") as stream:
            found = yaml.load(stream, Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise not_a_checkpoint(file, "YAML", _first_line(error)) from error
    if not isinstance(found, dict):
        raise not_a_checkpoint(file, "a configuration of keys", type(found).__name__)
    return found


def _is_pickle(file: str) -> bool:
    """Return whether the data starts like files of the old torch.save()."""
    with open(file, "rb") as stream:
        return stream.read(1) == pickle.PROTO


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
