"""What the program calls its tensors, so that exported weights and states keep the names.

The recorder knows tensors, not who holds them. Modules are looked for among the objects annotate
calls were given and in what the program holds; other tensors are called after the path by which the
program reached them when a node first opened (``env.action_manager.action``). The session gets both
by the address of the first element, when it compiles.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from ._numpy import ARRAYS, array_of
from ._program import Program
from ._snapshot import Snapshot

#: Modules that annotate calls were given.
_given: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
#: By address, how the program reached a tensor when a node of the last session first opened.
_paths: dict[int, str] = {}

#: Where PyTorch's modules hold theirs.
_INSIDE_MODULE = re.compile(r"\._(?:buffers|parameters|modules)\['(\w+)'\]")


def remember(value: Any) -> None:
    """Note a module that was given to an annotate call."""
    if isinstance(value, torch.nn.Module):
        _given.add(value)


def remember_paths(snapshots: Iterable[Snapshot]) -> None:
    """Note how the program reaches the tensors it holds."""
    _paths.clear()
    for snapshot in snapshots:
        for place in snapshot.items():
            if isinstance(place.value, ARRAYS) and (address := _address(place.value)):
                _paths.setdefault(address, _INSIDE_MODULE.sub(r".\1", place.name))


def tensor_names() -> dict[int, tuple[str, str]]:
    """Return (name, path) of tensors by the address of their first element."""
    names = {address: (name_of(path), path) for address, path in _paths.items()}
    of_modules: dict[int, str] = {}
    program = Program()
    program.visit_frames()
    for module in [*_given, *program.modules]:
        for path, tensor in (*module.named_parameters(), *module.named_buffers()):
            name = path.replace("_orig_mod.", "")  # inside a compiled module
            if address := _address(tensor):
                # The longest name is the one seen from the outermost module.
                of_modules[address] = max(of_modules.get(address, ""), name, key=len)
    named = {address: (name, _paths.get(address, "")) for address, name in of_modules.items()}
    return names | named


def name_of(path: str) -> str:
    """Return a name for what is reached by a path: ``env.scene['imu'].data`` is scene_imu_data."""
    first, *rest = re.findall(r"\w+", path) or [""]
    parts = rest if rest and not rest[0].isdigit() else [first, *rest]
    return "_".join(part.strip("_") for part in parts)


def _address(value: Any) -> int:
    value = array_of(value)
    if isinstance(value, np.ndarray):
        return int(value.__array_interface__["data"][0])
    try:
        return torch._C.TensorBase.data_ptr(value)
    except (RuntimeError, ValueError):  # lazy and fake tensors have no memory
        return 0
