"""The files of skrl: checkpoints of agents, and the configuration of its Runner."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from leapp.errors import LeappValueError

from . import _checkpoint

if TYPE_CHECKING:
    import torch

_EXPECTED = "a checkpoint of skrl"

#: The Runner's names for the functions that create models.
_MAKERS = {
    "gaussianmixin": "gaussian_model",
    "multivariategaussianmixin": "multivariate_gaussian_model",
    "deterministicmixin": "deterministic_model",
    "categoricalmixin": "categorical_model",
    "multicategoricalmixin": "multicategorical_model",
}

#: Syntax that expressions of a configuration may contain; skrl runs them as code.
_SYNTAX = (
    ast.Expression, ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.Call, ast.BinOp,
    ast.UnaryOp, ast.operator, ast.unaryop, ast.Subscript, ast.Slice,
)  # fmt: skip
_FUNCTIONS = {
    "concatenate", "permute", "one_hot_encoding", "tanh", "sigmoid", "softmax", "softplus",
    "softsign", "relu", "relu6", "elu", "selu", "leaky_relu",
}  # fmt: skip


class SavedAgent(NamedTuple):
    """The policy of a checkpoint.

    Attributes:
        path: The file.
        role: ``"policy"`` or ``"q_network"``.
        weights: The weights of the model.
        preprocessor: The weights of the preprocessor of observations, or None.
    """

    path: str
    role: str
    weights: dict[str, torch.Tensor]
    preprocessor: dict[str, torch.Tensor] | None


def read(path: str | os.PathLike[str], *, trust: str | None) -> SavedAgent:
    found = _checkpoint.load_tensors(path, _EXPECTED, trust=trust)
    file = os.fspath(path)
    if _checkpoint.is_state_dict(found):  # a module that was stored separately
        return SavedAgent(file, "policy", dict(found), None)
    role = "q_network" if isinstance(found, Mapping) and "q_network" in found else "policy"
    weights = _checkpoint.state_dict_of(found, role, file, _EXPECTED)
    names = ("observation_preprocessor", "state_preprocessor")  # since skrl 2, and before
    kept = (found[name] for name in names if _checkpoint.is_state_dict(found.get(name)))
    return SavedAgent(file, role, weights, next(kept, None))


def make_preprocessor(saved: SavedAgent, config: Mapping[str, Any]) -> Any:
    """Create the preprocessor of observations; raise if its weights are missing.

    Args:
        saved: The checkpoint.
        config: The configuration of the training; may be empty.
    """
    agent = config.get("agent") or {}
    name = next(
        (key for key in ("observation_preprocessor", "state_preprocessor") if agent.get(key)), None
    )
    if saved.preprocessor is None:
        if name is not None:
            raise LeappValueError.coded(
                "LP804",
                f"{saved.path}: was trained with the {name.replace('_', ' ')} {agent[name]} "
                "according to its configuration, but it contains none. Export the checkpoint of "
                "the whole agent.",
            )
        return None
    _checkpoint.library("skrl.resources.preprocessors.torch", "skrl")
    from skrl.resources.preprocessors.torch import RunningStandardScaler

    settings = (agent.get(f"{name}_kwargs") or {}) if name is not None else {}
    known = {key: settings[key] for key in ("epsilon", "clip_threshold") if key in settings}
    size = saved.preprocessor["running_mean"].numel() if _is_scaler(saved) else 0
    scaler = RunningStandardScaler(size=size, device="cpu", **known)
    _checkpoint.load_weights(scaler, saved.preprocessor, saved.path, "RunningStandardScaler")
    return scaler


def make_model(saved: SavedAgent, config: Mapping[str, Any] | None, *, trusted: bool) -> Any:
    """Create the model that a configuration of skrl's Runner describes, without weights."""
    section = dict((config or {}).get("models") or {})
    if not section:
        raise LeappValueError.coded(
            "LP003",
            f"{saved.path}: contains weights but no description of the model. Give the Runner's "
            f"configuration (config=.., --config), or a model of your own (model=.., --model).",
        )
    if not trusted:
        _check_expressions(saved.path, section)
    _checkpoint.library("skrl.utils.model_instantiators.torch", "skrl")
    shared = not section.pop("separate", True)
    parts = {name: dict(part) for name, part in section.items() if shared or name == saved.role}
    if saved.role not in parts:
        raise _checkpoint.unsupported(
            f"{saved.path}: the configuration has no model '{saved.role}' but {sorted(section)}."
        )
    if "OBSERVATIONS" not in str(parts[saved.role]):  # they were called states until skrl 1
        parts = {name: _replaced(part, "STATES", "OBSERVATIONS") for name, part in parts.items()}
    kinds = {name: str(part.pop("class", "")) for name, part in parts.items()}
    spaces = _spaces(saved, kinds[saved.role], parts[saved.role])
    model = _instantiated(kinds, parts, spaces, shared, saved)
    for role in sorted(parts, key=lambda role: role != saved.role):  # the policy's comes first
        model.init_state_dict(role=role)
    return model


def _instantiated(
    kinds: dict[str, str], parts: dict[str, Any], spaces: dict[str, Any], shared: bool, saved: Any
) -> Any:
    from skrl.utils.model_instantiators import torch as makers

    if shared:
        return makers.shared_model(
            **spaces, device="cpu", structure=list(kinds.values()), roles=list(kinds),
            parameters=list(parts.values()),
        )  # fmt: skip
    name = _MAKERS.get(kinds[saved.role].lower())
    if name is None:
        raise _checkpoint.unsupported(
            f"{saved.path}: the configuration's model class '{kinds[saved.role]}' is none of "
            f"{sorted(_MAKERS)}. Give a model of your own (model=.., --model)."
        )
    return getattr(makers, name)(**spaces, device="cpu", **parts[saved.role])


def _spaces(saved: SavedAgent, kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return spaces with the sizes of the weights."""
    import numpy as np
    from gymnasium import spaces

    matrices = [value for value in saved.weights.values() if value.dim() == 2]
    if not matrices:
        raise _checkpoint.unsupported(
            f"{saved.path}: the sizes of observations and actions cannot be read from the "
            f"weights. Give a model of your own (model=.., --model)."
        )
    width = matrices[0].shape[1]
    if saved.preprocessor is not None and _is_scaler(saved):
        width = saved.preprocessor["running_mean"].numel()
    heads = [
        name for name in ("policy_layer.weight", "output_layer.weight") if name in saved.weights
    ]
    rows = int((saved.weights[heads[0]] if heads else matrices[-1]).shape[0])
    if "log_std_parameter" in saved.weights:
        rows = saved.weights["log_std_parameter"].numel()
    clips = "clip_mean_actions" if "gaussian" in kind.lower() else "clip_actions"
    if settings.get(clips):
        raise _checkpoint.unsupported(
            f"{saved.path}: the policy clips its actions ({clips}), but neither file contains the "
            "limits. Give a model of your own (model=.., --model)."
        )
    discrete = "categorical" in kind.lower() or saved.role == "q_network"
    action = spaces.Discrete(rows) if discrete else spaces.Box(-np.inf, np.inf, (rows,))
    observation = spaces.Box(-np.inf, np.inf, (int(width),))
    return {"observation_space": observation, "state_space": None, "action_space": action}


def _replaced(value: Any, old: str, new: str) -> Any:
    """Return a configuration with a word replaced in every string."""
    if isinstance(value, Mapping):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(each, old, new) for each in value]
    return value.replace(old, new) if isinstance(value, str) else value


def _is_scaler(saved: SavedAgent) -> bool:
    return saved.preprocessor is not None and "running_mean" in saved.preprocessor


def _check_expressions(path: str, value: Any) -> None:
    """Raise if a string in the configuration is more than an expression of tensors."""
    if isinstance(value, Mapping):
        value = (*value, *value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            _check_expressions(path, each)
    elif isinstance(value, str) and value and not _is_plain(value):
        raise _checkpoint.untrusted(path, f"its configuration says '{value}'")


def _is_plain(text: str) -> bool:
    """Return whether a string contains only names, indices and arithmetic."""
    if text.isidentifier():
        return "__" not in text
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    for node in ast.walk(tree):
        if not isinstance(node, _SYNTAX) or (isinstance(node, ast.Name) and "__" in node.id):
            return False
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
        ):
            return False
    return True
