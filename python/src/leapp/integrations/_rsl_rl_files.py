"""The files of RSL-RL: checkpoints of every release since 2, and their configuration."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from leapp.errors import LeappValueError

from . import _checkpoint

if TYPE_CHECKING:
    import torch

_EXPECTED = "a checkpoint of RSL-RL"

#: Names in ActorCritic's state dict, until RSL-RL 3, and their names in an actor.
_RENAMED = (
    (re.compile(r"^(?:actor|student)\."), "mlp."),
    (re.compile(r"^(?:actor|student)_obs_normalizer\."), "obs_normalizer."),
    (re.compile(r"^memory_[as]\.rnn\."), "rnn.rnn."),
)


#: The options of an actor's noise in RSL-RL 4.0, before ``distribution_cfg``.
_FORMER_NOISE = ("stochastic", "init_noise_std", "noise_std_type", "state_dependent_std")


class SavedActor(NamedTuple):
    """The actor of a checkpoint.

    Attributes:
        path: The file.
        weights: By their names in an actor of RSL-RL 4 or newer.
        section: The section of its configuration, ``"actor"`` or ``"student"``; ``"policy"`` for a
            checkpoint of an older release.
    """

    path: str
    weights: dict[str, torch.Tensor]
    section: str


def read(path: str | os.PathLike[str], *, trust: str | None) -> SavedActor:
    found = _checkpoint.load_tensors(path, _EXPECTED, trust=trust)
    file = os.fspath(path)
    for role in ("actor", "student"):
        if isinstance(found, Mapping) and f"{role}_state_dict" in found:
            weights = _checkpoint.state_dict_of(found, f"{role}_state_dict", file, _EXPECTED)
            return SavedActor(file, weights, role)
    weights = _renamed(_checkpoint.state_dict_of(found, "model_state_dict", file, _EXPECTED))
    normalizer = found.get("obs_norm_state_dict")  # next to the model until RSL-RL 2
    if _checkpoint.is_state_dict(normalizer):
        weights |= {f"obs_normalizer.{name}": value for name, value in normalizer.items()}
    if not any(name.startswith("mlp.") for name in weights):
        raise _checkpoint.not_a_checkpoint(file, _EXPECTED, "no 'actor' among its weights")
    return SavedActor(file, weights, "policy")


def make_actor(
    saved: SavedActor,
    config: Mapping[str, Any],
    activation: str | None,
    images: dict[str, Any],
    *,
    trusted: bool,
) -> Any:
    """Create the actor with the checkpoint's weights.

    Args:
        saved: The checkpoint.
        config: The configuration of the training; may be empty.
        activation: Used instead of the configuration's.
        images: Channels, height and width of each image.
        trusted: True if the configuration may name classes other than RSL-RL's.
    """
    arguments = _arguments(saved, config)
    if activation is not None:
        arguments["activation"] = activation
    if "activation" not in arguments:
        raise LeappValueError.coded(
            "LP003",
            f"{saved.path}: the activation function cannot be read from the weights, and there is "
            "no params/agent.yaml next to the checkpoint. Pass config=.. or activation=.., or "
            f"--config or --activation.",
        )
    noise = any(name.startswith("distribution.") for name in saved.weights)
    told = {"distribution_cfg", "stochastic"} & set(arguments)
    if saved.section == "actor" and not noise and not told:
        raise LeappValueError.coded(
            "LP003",
            f"{saved.path}: the distribution of the actor's actions cannot be read from the "
            "weights. Give config=.. or --config.",
        )
    _check_normalizer(saved, arguments)
    models = _checkpoint.library("rsl_rl.models", "rsl-rl-lib>=4")
    kind = _class_of(saved, models, arguments.pop("class_name"), trusted)
    taken = inspect.signature(kind).parameters
    if "stochastic" not in taken:
        saved = _with_distribution(saved, arguments)
    unknown = sorted(set(arguments) - set(taken))
    if unknown and not any(each.kind == each.VAR_KEYWORD for each in taken.values()):
        raise LeappValueError.coded(
            "LP003",
            f"{saved.path}: its configuration has options that {kind.__name__} of the installed "
            f"rsl-rl-lib does not have: {', '.join(unknown)}. Install the version that trained "
            f"it, or remove them and pass the configuration as config=.. or --config.",
        )
    observations = _observations(saved, arguments, images)
    width = _actions(saved, arguments, trusted)
    actor = kind(observations, {"actor": list(observations)}, "actor", width, **arguments)
    _checkpoint.load_weights(actor, _without_noise(saved, actor), saved.path, kind.__name__)
    return actor


def _renamed(weights: dict[str, Any]) -> dict[str, Any]:
    """Return the actor's part of an ActorCritic's weights, under its new names."""
    return {
        pattern.sub(prefix, name): value
        for name, value in weights.items()
        for pattern, prefix in _RENAMED
        if pattern.match(name)
    }


def _arguments(saved: SavedActor, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the actor: from the configuration, or else from the weights."""
    section = _options(config.get(saved.section) or {})
    layers = _layers(saved)
    found: dict[str, Any] = {
        "class_name": "RNNModel" if "rnn.rnn.weight_hh_l0" in saved.weights else "MLPModel",
        "hidden_dims": [layer.shape[0] for layer in layers[:-1]],
        "obs_normalization": "obs_normalizer._mean" in saved.weights,
        **_rnn_arguments(saved),
    }
    if saved.section != "policy":
        return found | section
    # ActorCritic's configuration has the properties of the actor that its weights do not show.
    if "activation" in section:
        found["activation"] = section["activation"]
    if config.get("empirical_normalization") or section.get("actor_obs_normalization"):
        found["obs_normalization"] = True
    return found


def _options(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the trainers' own runners pass to the actor.

    Isaac Lab and mjlab write every option of their configuration classes to the file: also null
    ones, and the sizes of an RNN for an actor without one.
    """
    options = {
        name: value
        for name, value in section.items()
        if value is not None or name == "distribution_cfg"  # null: the actions are deterministic
    }
    if "rnn_type" not in options:
        for name in ("rnn_hidden_dim", "rnn_num_layers"):
            options.pop(name, None)
    return options


def _with_distribution(saved: SavedActor, arguments: dict[str, Any]) -> SavedActor:
    """Replace the options and the weight of RSL-RL 4.0's noise by those of a distribution."""
    former = {name: arguments.pop(name) for name in _FORMER_NOISE if name in arguments}
    if former and "distribution_cfg" not in arguments:
        kind = "HeteroscedasticGaussian" if former.get("state_dependent_std") else "Gaussian"
        arguments["distribution_cfg"] = (
            {
                "class_name": f"{kind}Distribution",
                "std_type": former.get("noise_std_type", "scalar"),
            }
            if former.get("stochastic")
            else None
        )
    renamed = {"std": "distribution.std_param", "log_std": "distribution.log_std_param"}
    weights = {renamed.get(name, name): value for name, value in saved.weights.items()}
    return saved._replace(weights=weights)


def _rnn_arguments(saved: SavedActor) -> dict[str, Any]:
    """Return type and size of the recurrent network with these weights."""
    recurrent = saved.weights.get("rnn.rnn.weight_hh_l0")
    if recurrent is None:
        return {}
    gates, size = recurrent.shape
    return {
        "rnn_type": "gru" if gates == 3 * size else "lstm",
        "rnn_hidden_dim": size,
        "rnn_num_layers": sum("weight_hh_l" in name for name in saved.weights),
    }


def _layers(saved: SavedActor) -> list[torch.Tensor]:
    """Return the weights of the MLP's layers in order."""
    named = (
        (re.match(r"mlp\.(\d+)\.weight$", name), saved.weights[name]) for name in saved.weights
    )
    found = {int(match[1]): value for match, value in named if match}
    if len(found) < 2 or any(value.dim() != 2 for value in found.values()):
        raise _checkpoint.not_a_checkpoint(
            saved.path, _EXPECTED, f"no MLP among the weights {sorted(saved.weights)[:4]}"
        )
    return [found[index] for index in sorted(found)]


def _check_normalizer(saved: SavedActor, arguments: Mapping[str, Any]) -> None:
    """Raise if the configuration has a normaliser and the checkpoint has none."""
    if arguments.get("obs_normalization") and "obs_normalizer._mean" not in saved.weights:
        raise LeappValueError.coded(
            "LP804",
            f"{saved.path}: according to its configuration it was trained with normalised "
            "observations, but it contains no normaliser. Export a checkpoint that the runner "
            "itself saved.",
        )


def _class_of(saved: SavedActor, module: Any, name: Any, trusted: bool) -> Any:
    """Return a class of RSL-RL, or any other class if the configuration is trusted."""
    from rsl_rl.utils import resolve_callable

    own = re.split(r"[.:]", str(name))[-1]
    if str(name) in (own, f"{module.__name__}.{own}", f"{module.__name__}:{own}"):
        found = getattr(module, own, None)
        if found is not None:
            return found
    if not trusted:
        raise _checkpoint.untrusted(saved.path, f"its configuration names the class {name}")
    return resolve_callable(name)


def _observations(
    saved: SavedActor, arguments: dict[str, Any], images: dict[str, Any]
) -> dict[str, torch.Tensor]:
    import torch

    layers = _layers(saved)
    encoders = {name.split(".")[1] for name in saved.weights if name.startswith("cnns.")}
    if encoders != set(images):
        raise _checkpoint.unsupported(
            f"{saved.path}: the actor takes the images {sorted(encoders)}, but sizes are known "
            "only for "
            f"{sorted(images)}. Give images=.. or --image with channels, height and width."
        )
    if "rnn.rnn.weight_ih_l0" in saved.weights:
        width = saved.weights["rnn.rnn.weight_ih_l0"].shape[1]
    else:
        width = layers[0].shape[1] - _encoded(saved, arguments, images)
    groups = {"obs": torch.zeros(1, width)} if width > 0 else {}
    groups |= {name: torch.zeros(1, *size) for name, size in images.items()}
    return groups


def _actions(saved: SavedActor, arguments: dict[str, Any], trusted: bool) -> int:
    """Return the number of actions; some distributions need two numbers for each."""
    from rsl_rl.modules import distribution

    rows = int(_layers(saved)[-1].shape[0])
    settings = arguments.get("distribution_cfg")
    if not settings:
        return rows
    kind = _class_of(saved, distribution, settings["class_name"], trusted)
    settings = arguments["distribution_cfg"] = {**settings, "class_name": kind}
    made = kind(1, **{key: value for key, value in settings.items() if key != "class_name"})
    return rows if isinstance(made.input_dim, int) else rows // 2


def _encoded(saved: SavedActor, arguments: dict[str, Any], images: dict[str, Any]) -> int:
    """Return the number of features of the image encoders."""
    from rsl_rl.modules import CNN

    if images and not arguments.get("cnn_cfg"):
        raise _checkpoint.unsupported(
            f"{saved.path}: strides and paddings of the image encoders are only in the "
            "configuration. Give config=.. or --config."
        )
    total = 0
    for name, (channels, height, width) in images.items():
        settings = arguments["cnn_cfg"]
        settings = settings.get(name, settings)
        total += int(CNN((height, width), channels, **settings).output_dim)
    return total


def _without_noise(saved: SavedActor, actor: Any) -> dict[str, Any]:
    """Return the weights without those of a noise that the actor was created without."""
    if getattr(actor, "distribution", None) is not None:
        return saved.weights
    return {
        name: value for name, value in saved.weights.items() if not name.startswith("distribution.")
    }
