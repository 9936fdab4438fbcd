"""A task of mjlab and its trained policy as a bundle.

One tick of the bundle is one control step: observation terms with their scale, clip, delay and
history, the policy with its normaliser, and the action terms, computed as in mjlab. Values that the
terms read from entities, sensors and commands are its inputs; the targets of the actuators are its
outputs. ``mjlab_connection`` of each port names the value in mjlab.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import leapp
from leapp.errors import LeappValueError

from . import _policy
from ._checkpoint import existing, library, load_tensors, load_weights, state_dict_of
from ._mjlab_reads import value_of
from ._mjlab_task import Task

__all__ = ["export_checkpoint", "export_task", "load_policy", "read_inputs"]

_PACKAGE = "mjlab==1.6.0"
_EXPECTED = "a checkpoint of rsl_rl 5"


def export_task(
    env: Any,
    policy: Callable[[Any], Any],
    path: str | os.PathLike[str],
    *,
    backend: str = "onnx",
    verbose: bool = False,
) -> str:
    """Export a policy with everything that its task computes before and after it.

    Noise is left out, and a recurrent policy starts with its state at zero. The environment is
    stepped a few times and is reset afterwards.

    Args:
        env: A ``ManagerBasedRlEnv`` with one environment on the CPU, or rsl_rl's wrapper of it,
            whose ``clip_actions`` then applies.
        policy: The result of ``runner.get_inference_policy()``, or any function from a TensorDict
            of observation groups to an action, which gets the group ``"actor"``.
        path: The bundle's directory; its last part names the graph.
        backend: ``"onnx"`` or ``"jit"``.
        verbose: Show the whole log on the console.

    Returns:
        The path of the bundle's YAML file.
    """
    import torch

    library("mjlab.envs", _PACKAGE)
    task = Task(env, policy)
    with task.watching(), _evaluating(policy), torch.no_grad():
        task.probe()
        with _policy.traced(path, verbose) as yaml:
            for _ in range(_policy.PASSES):
                task.trace_pass(backend)
                task.step()
    task.env.reset()
    leapp.compile_graph(graph_configs=task.configs())
    return yaml


def read_inputs(env: Any, manager: leapp.InferenceManager) -> dict[str, Any]:
    """Return the current value in the environment of each input of an exported task.

    With it, a bundle can run in mjlab's own simulation:
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


def export_checkpoint(
    task: str,
    checkpoint: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    motion_file: str | os.PathLike[str] | None = None,
    backend: str = "onnx",
    verbose: bool = False,
) -> str:
    """Export a registered task in its play configuration with a checkpoint that mjlab trained.

    Args:
        task: The task's name, such as ``"Mjlab-Velocity-Flat-Unitree-Go1"``. Your own tasks are
            available after the module that registers them is imported.
        checkpoint: The ``model_*.pt`` of rsl_rl.
        path: The bundle's directory; its last part names the graph.
        motion_file: The ``.npz`` of a tracking task; it becomes part of the bundle.
        backend: ``"onnx"`` or ``"jit"``.
        verbose: Show the whole log on the console.

    Returns:
        The path of the bundle's YAML file.
    """
    library("mjlab.tasks", _PACKAGE)
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl import RslRlVecEnvWrapper
    from mjlab.tasks.registry import load_rl_cfg

    load_tensors(checkpoint, _EXPECTED)  # before the simulation, which takes longer
    env = ManagerBasedRlEnv(_configuration(task, motion_file), device="cpu")
    try:
        policy = load_policy(task, env, checkpoint)
        wrapped = RslRlVecEnvWrapper(env, clip_actions=load_rl_cfg(task).clip_actions)
        return export_task(wrapped, policy, path, backend=backend, verbose=verbose)
    finally:
        env.close()


def load_policy(task: str, env: Any, checkpoint: str | os.PathLike[str]) -> Any:
    """Return the policy that the task's runner creates, with the weights of a checkpoint.

    The checkpoint is read as data, without running code from it.
    """
    library("mjlab.tasks", _PACKAGE)
    from mjlab.rl import MjlabOnPolicyRunner, RslRlVecEnvWrapper
    from mjlab.tasks.registry import load_rl_cfg, load_runner_cls

    weights = state_dict_of(
        load_tensors(checkpoint, _EXPECTED), "actor_state_dict", checkpoint, _EXPECTED
    )
    config = load_rl_cfg(task)
    wrapped = RslRlVecEnvWrapper(env, clip_actions=config.clip_actions)
    runner_class = load_runner_cls(task) or MjlabOnPolicyRunner
    runner = runner_class(wrapped, dataclasses.asdict(config), device="cpu")
    policy = runner.get_inference_policy(device="cpu")
    own = policy.state_dict()
    missing = [name for name in own if name.startswith("obs_normalizer.") and name not in weights]
    if missing:
        raise LeappValueError.coded(
            "LP804",
            f"{os.fspath(checkpoint)}: the policy of '{task}' normalises its observations, but "
            f"the checkpoint has no '{missing[0]}'. Without it the policy would receive different "
            "numbers than in training. Give the complete checkpoint that the trainer wrote.",
        )
    load_weights(policy, weights, os.fspath(checkpoint), f"the policy of '{task}'")
    return policy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``leapp-export mjlab``."""
    parser.add_argument("task", metavar="TASK", help="such as Mjlab-Velocity-Flat-Unitree-Go1")
    parser.add_argument("--checkpoint", required=True, metavar="FILE", help="model_*.pt of rsl_rl")
    parser.add_argument("--motion-file", metavar="FILE", help="the .npz of a tracking task")
    parser.add_argument(
        "--import", dest="module", metavar="MODULE", help="a module that registers tasks"
    )


def run(arguments: argparse.Namespace) -> str:
    """Export with these arguments; return the path of the bundle's YAML file."""
    library("mjlab.tasks", _PACKAGE)
    options = vars(arguments)
    if module := options.pop("module"):
        sys.path.insert(0, os.getcwd())  # as `python -m` does
        library(module, module)
    return export_checkpoint(**options)


def _configuration(task: str, motion_file: str | os.PathLike[str] | None) -> Any:
    """Return the task's play configuration, for one environment."""
    from mjlab.tasks.registry import list_tasks, load_env_cfg
    from mjlab.tasks.tracking.mdp import MotionCommandCfg

    if task not in list_tasks():
        raise LeappValueError.coded(
            "LP003",
            f"mjlab has no task '{task}'. It has: {', '.join(list_tasks())}. Import the module "
            "that registers yours (leapp-export mjlab --import MODULE).",
        )
    config = load_env_cfg(task, play=True)
    config.scene.num_envs = 1
    motions = [term for term in config.commands.values() if isinstance(term, MotionCommandCfg)]
    if motions and motion_file is None:
        raise LeappValueError.coded(
            "LP003",
            f"'{task}' tracks a motion, which becomes part of the bundle. Give the .npz file of "
            "the training as motion_file (leapp-export mjlab --motion-file FILE).",
        )
    for motion in motions:
        motion.motion_file = existing(motion_file or "")
    return config


@contextlib.contextmanager
def _evaluating(policy: Any) -> Iterator[None]:
    """Put a module into evaluation mode while the block runs."""
    training = getattr(policy, "training", False)
    if training:
        policy.eval()
    try:
        yield
    finally:
        if training:
            policy.train()
