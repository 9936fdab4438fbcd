"""skrl: agents, models and checkpoints, with their preprocessor and recurrent state.

    skrl.export_policy(agent, "walker")
    skrl.export_checkpoint("agent_10000.pt", "walker", config="agent.yaml")

The input of the bundle is ``observations``, its output the deterministic ``actions``: the mean of a
Gaussian, the most probable choice of a categorical distribution, the best one of a Q-network.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _checkpoint, _policy, _skrl_files
from ._spaces import example_of, is_simple

if TYPE_CHECKING:
    import torch

__all__ = ["add_arguments", "export_checkpoint", "export_policy", "run"]


def export_policy(
    policy: Any,
    path: str | os.PathLike[str],
    *,
    preprocessor: torch.nn.Module | None = None,
    backend: str = "onnx",
    frequency: float | None = None,
    verbose: bool = False,
) -> str:
    """Write the bundle of an agent or of its policy; return the path of its YAML file.

    Args:
        policy: The agent, whose preprocessor is used automatically, or a model.
        path: The bundle's directory.
        preprocessor: A module that is applied to observations first, such as a
            RunningStandardScaler.
        backend: ``"onnx"`` or ``"jit"``.
        frequency: Rate of the policy in Hz.
        verbose: Show the whole log on the console.
    """
    _checkpoint.library("skrl.models.torch", "skrl")
    from skrl.agents.torch import Agent
    from skrl.models.torch import Model

    role = "policy"
    if isinstance(policy, Agent):
        if preprocessor is None:
            preprocessor = _preprocessor_of(policy)
        role = "policy" if "policy" in policy.models else "q_network"
        policy = policy.models.get(role)
    if not isinstance(policy, Model):
        raise _checkpoint.unsupported(
            f"skrl.export_policy() takes an agent or a model of skrl, got {type(policy).__name__}."
        )
    return _policy.export(_Tick(policy, role, preprocessor), path, backend, frequency, verbose)


def export_checkpoint(
    checkpoint: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    model: Any = None,
    trust: str | None = None,
    **options: Any,
) -> str:
    """Write the bundle of a file that an agent saved; return the path of its YAML file.

    Args:
        checkpoint: ``agent_*.pt``, ``best_agent.pt``, or the policy's own file if modules are
            stored separately.
        path: The bundle's directory.
        config: The configuration of skrl's Runner, as a dict or a YAML file; by default
            ``params/agent.yaml`` next to the checkpoint or its directory.
        model: Your own model for the weights, instead of a configuration.
        trust: ``"code"`` lets the file run code, and the configuration contain any expression.
        options: As in :func:`export_policy`.
    """
    trusted = _checkpoint.check_trust(trust)
    saved = _skrl_files.read(checkpoint, trust=trust)
    # Isaac Lab writes it to the run's directory.
    config = _checkpoint.config_of(config, checkpoint, levels=2 if model is None else 0)
    if model is None:
        model = _skrl_files.make_model(saved, config, trusted=trusted)
    _checkpoint.load_weights(model, saved.weights, saved.path, type(model).__name__)
    preprocessor = _skrl_files.make_preprocessor(saved, config or {})
    return _policy.export(_Tick(model, saved.role, preprocessor), path, **options)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this integration's arguments."""
    parser.add_argument(
        "checkpoint", metavar="AGENT.pt", help="the checkpoint that the agent saved"
    )
    parser.add_argument(
        "--config",
        metavar="AGENT.yaml",
        help="the Runner's configuration; default: next to the file",
    )
    parser.add_argument(
        "--model", metavar="FILE.py:FUNCTION", help="your function that returns the model"
    )
    _checkpoint.add_arguments(parser)


def run(arguments: argparse.Namespace) -> str:
    """Export with these arguments; return the path of the YAML file."""
    if arguments.model:
        arguments.model = _checkpoint.from_file(arguments.model)()
    return export_checkpoint(**vars(arguments))


def _preprocessor_of(agent: Any) -> Any:
    """Return the module that an agent applies to observations, if there is one."""
    import torch

    for name in ("_observation_preprocessor", "_state_preprocessor"):
        found = getattr(agent, name, None)
        if isinstance(found, torch.nn.Module):
            return found
        if found is not None:
            return None
    return None


class _Inputs(dict[str, Any]):
    """Return the inputs of a model; refuse a policy that needs the simulator's state."""

    def __getitem__(self, key: str) -> Any:
        if key == "states":
            raise _checkpoint.unsupported(
                "the policy takes 'states', which only a simulator has. Train one that acts on "
                "'observations'."
            )
        return super().__getitem__(key)


class _Tick(_policy.Policy):
    """The operations of an agent around its policy, without random numbers."""

    def __init__(self, model: Any, role: str, preprocessor: Any) -> None:
        import torch

        self._preprocessor = None if preprocessor is None else _policy.frozen(preprocessor)
        self._model = _policy.frozen(model)
        self._role = role
        self._model.device = "cpu"  # models create tensors on the device on which they were created
        self._space = self._model.observation_space
        if not is_simple(self._space):
            raise _checkpoint.unsupported(
                f"the policy observes {self._space}, which skrl flattens. "
                f"Flatten it in the environment."
            )
        sizes = self._model.get_specification().get("rnn", {}).get("sizes", [])
        # The sizes are those of a training with many environments.
        states = {
            f"rnn_{i}": torch.zeros(layers, 1, width) for i, (layers, _, width) in enumerate(sizes)
        }
        super().__init__(self._step, self._sample, states)

    def _sample(self) -> dict[str, torch.Tensor]:
        example = example_of(self._space)
        return {"observations": example.reshape(1, -1)}

    def _step(self, inputs: Any, states: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        observations = inputs["observations"]
        if self._preprocessor is not None:
            observations = self._preprocessor(observations)
        given = _Inputs(observations=observations)
        if states:
            given["rnn"] = list(states.values())
        with _no_draws():
            actions, outputs = self._model.act(given, role=self._role)
        left = dict(zip(states, outputs.get("rnn", []), strict=True))
        return {"actions": self._deterministic(actions, outputs)}, left

    def _deterministic(self, actions: torch.Tensor, outputs: Any) -> torch.Tensor:
        """Return the mean action of the distribution."""
        if "mean_actions" in outputs:
            mean: torch.Tensor = outputs["mean_actions"]
            return mean
        return actions.argmax(dim=1, keepdim=True) if self._role == "q_network" else actions


@contextlib.contextmanager
def _no_draws() -> Iterator[None]:
    """Let distributions return their mode, because models also sample if only a mean is needed."""
    from torch.distributions import Categorical, MultivariateNormal, Normal

    def mode(self: Any, sample_shape: Any = ()) -> Any:
        return self.mode

    with (
        _policy.having(Normal, "rsample", mode),
        _policy.having(MultivariateNormal, "rsample", mode),
        _policy.having(Categorical, "sample", mode),
    ):
        yield
