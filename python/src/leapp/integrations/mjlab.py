"""A task of mjlab and its trained policy as a bundle.

One tick of the bundle is one control step: observation terms with their scale, clip, delay and
history, the policy with its normaliser, and the action terms, all of them as mjlab runs them. What
the terms read of entities, sensors and commands are its inputs, what they tell the actuators its
outputs; ``mjlab_connection`` of each port says where mjlab has it.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import leapp
from leapp.errors import LeappImportError, LeappNotFoundError, LeappValueError

from ._mjlab_reads import value_of
from ._mjlab_task import Task

__all__ = ["export_checkpoint", "export_task", "read_inputs"]

_PASSES = 3


def export_task(
    env: Any,
    policy: Callable[[Any], Any],
    path: str | os.PathLike[str],
    *,
    backend: str = "onnx",
    verbose: bool = False,
) -> str:
    """Export a policy with everything that its task does before and after it.

    Noise is left out, and a recurrent policy starts with its state at zero. The environment is
    stepped a few times and is reset afterwards.

    Args:
        env: A ``ManagerBasedRlEnv`` with one environment on the CPU, or rsl_rl's wrapper of it,
            whose ``clip_actions`` then counts.
        policy: What ``runner.get_inference_policy()`` gives; or any function from a TensorDict of
            observation groups to an action, which gets the group ``"actor"``.
        path: The bundle's folder; its last part names the graph.
        backend: ``"onnx"`` or ``"jit"``.
        verbose: Show the whole log on the console.

    Returns:
        The path of the bundle's YAML file.
    """
    import torch

    _require_mjlab()
    folder = os.path.abspath(os.path.expanduser(os.fspath(path)))
    task = Task(env, policy)
    with task.watching(), _evaluating(policy), torch.no_grad():
        task.probe()
        leapp.start(folder, verbose=verbose, max_cached_io=_PASSES)
        try:
            for _ in range(_PASSES):
                task.trace_pass(backend)
                task.step()
        finally:
            leapp.stop()
    task.env.reset()
    leapp.compile_graph(graph_configs=task.configs())
    return os.path.join(folder, f"{os.path.basename(folder)}.yaml")


def read_inputs(env: Any, manager: leapp.InferenceManager) -> dict[str, Any]:
    """Return what the environment has now for each input of an exported task.

    By it a bundle runs in mjlab's own simulation:
    ``manager.run_policy(read_inputs(env, manager))``.
    """
    ports = {
        f"{node}/{port['name']}": port
        for node, model in manager.models.items()
        for port in model["inputs"]
    }
    return {
        path: value_of(env.unwrapped, ports[path]["mjlab_connection"]).clone()
        for path in manager.inputs
    }


def _require_mjlab() -> None:
    """Say how to get mjlab where it is missing."""
    try:
        import mjlab.envs  # noqa: F401
    except ImportError as error:
        raise LeappImportError.coded(
            "LP006",
            f"Exporting a task of mjlab needs mjlab, which cannot be imported: {error}. "
            "Install it into this environment: pip install mjlab==1.6.0",
        ) from error


@contextlib.contextmanager
def _evaluating(policy: Any) -> Iterator[None]:
    """Have a module in evaluation mode for as long as the block runs."""
    training = getattr(policy, "training", False)
    if training:
        policy.eval()
    try:
        yield
    finally:
        if training:
            policy.train()
