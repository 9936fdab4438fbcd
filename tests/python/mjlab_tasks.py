"""Tasks of mjlab, compared with their bundles. test_integration_mjlab.py runs this with mjlab's
Python.

``LEAPP_MJLAB_TASKS=all`` runs every kind of task, which takes minutes: Warp compiles their physics.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mjlab.tasks  # noqa: F401  (registers the tasks)
import numpy as np
import pytest
import torch
from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.mdp.actions import RelativeJointPositionActionCfg
from mjlab.managers import ObservationTermCfg
from mjlab.rl import MjlabOnPolicyRunner, RslRlVecEnvWrapper
from mjlab.tasks.registry import load_env_cfg, load_rl_cfg, load_runner_cls
from safetensors.torch import load_file

import leapp
from leapp.errors import LeappError
from leapp.integrations import __main__ as command
from leapp.integrations import mjlab as integration

ROOT = Path(__file__).resolve().parents[2]
GO1 = "Mjlab-Velocity-Flat-Unitree-Go1"
CARTPOLE = "Mjlab-Cartpole-Balance"
OTHERS = [
    "Mjlab-Velocity-Rough-Unitree-Go1",
    "Mjlab-Velocity-Flat-Unitree-G1",
    "Mjlab-Velocity-Rough-Unitree-G1",
    "Mjlab-Tracking-Flat-Unitree-G1",
    "Mjlab-Tracking-Flat-Unitree-G1-No-State-Estimation",
    "Mjlab-Lift-Cube-Yam",
    "Mjlab-Lift-Cube-Yam-Depth",
]
pytestmark = pytest.mark.filterwarnings("default")


def motion(folder: Path) -> Path:
    """Return a swaying motion of a G1, long enough to be tracked and short enough to end."""
    frames, joints, bodies = 150, 29, 30
    t = np.linspace(0, 3, frames, dtype=np.float32)[:, None]
    path = folder / "motion.npz"
    np.savez(
        path,
        joint_pos=0.1 * np.sin(t + np.arange(joints)),
        joint_vel=0.1 * np.cos(t + np.arange(joints)),
        body_pos_w=np.full((frames, bodies, 3), [0, 0, 0.8]) + 0.01 * t[..., None],
        body_quat_w=np.tile([1.0, 0, 0, 0], (frames, bodies, 1)),
        body_lin_vel_w=np.zeros((frames, bodies, 3)),
        body_ang_vel_w=np.zeros((frames, bodies, 3)),
    )
    return path


def configuration(task: str, folder: Path) -> Any:
    config = load_env_cfg(task, play=True)
    config.scene.num_envs = 1
    for term in config.commands.values():
        if hasattr(term, "motion_file"):
            term.motion_file = str(motion(folder))
    return config


def untrained(task: str, env: Any, **actor: Any) -> Any:
    """Return the policy of the task's runner, with actions that depend on the observation."""
    config = load_rl_cfg(task)
    for key, value in actor.items():
        setattr(config.actor, key, value)
    torch.manual_seed(0)
    runner = (load_runner_cls(task) or MjlabOnPolicyRunner)(
        RslRlVecEnvWrapper(env), vars_of(config), device="cpu"
    )
    policy = runner.get_inference_policy(device="cpu")
    with torch.no_grad():
        for name, buffer in policy.named_buffers():
            if name.endswith(("_mean", "_var", "_std")):
                buffer.uniform_(0.5, 1.5)
    return policy


def vars_of(config: Any) -> dict[str, Any]:
    import dataclasses

    return dataclasses.asdict(config)


def assert_drives(env: Any, policy: Any, yaml: str, ticks: int = 200) -> None:
    """Let the bundle drive the simulation, and compare it with mjlab's policy in every step."""
    manager = leapp.InferenceManager(yaml, array="torch")
    observed, _ = env.reset()
    if getattr(policy, "is_recurrent", False):
        policy.reset()
    env.cfg.auto_reset = False  # the bundle is not notified of mjlab's resets
    seen = []
    for tick in range(ticks):
        if tick == ticks // 2:  # a reset during the run
            observed, _ = env.reset()
            manager.reset()
            if getattr(policy, "is_recurrent", False):
                policy.reset()
        found = manager.run_policy(integration.read_inputs(env, manager))
        with torch.no_grad():
            action = policy(observed)
        env._manual_reset_pending.zero_()
        driven = Driven(env, {key.partition("/")[2]: value for key, value in found.items()})
        observed = driven.step(action)
        for name, expected in driven.expected.items():
            value = found[f"policy/{name}_target"]
            torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-5)
            seen.append(value)
    # A constant policy would equal any other constant policy.
    assert any((value - seen[0]).abs().max() > 1e-4 for value in seen)


class Driven:
    """A step of the environment whose processed actions come from the bundle."""

    def __init__(self, env: Any, outputs: dict[str, Any]) -> None:
        self._env = env
        self._outputs = outputs
        self.expected: dict[str, Any] = {}

    def step(self, action: Any) -> Any:
        manager = self._env.action_manager
        own = type(manager).process_action

        def process(given: Any) -> None:
            own(manager, given)
            for name, term in manager._terms.items():
                self.expected[name] = term._processed_actions
                term._processed_actions = self._outputs[f"{name}_target"].clone()

        manager.process_action = process
        try:
            return self._env.step(action)[0]
        finally:
            del manager.process_action


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    env = ManagerBasedRlEnv(configuration(CARTPOLE, tmp_path_factory.mktemp("c")), device="cpu")
    yield env
    env.close()


@pytest.fixture(scope="module")
def go1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    env = ManagerBasedRlEnv(configuration(GO1, tmp_path_factory.mktemp("g")), device="cpu")
    yield env
    env.close()


def derived(change: Callable[[Any], None]) -> Any:
    """Return the cartpole, as a user would derive a task from it."""
    config = load_env_cfg(CARTPOLE, play=True)
    config.scene.num_envs = 1
    change(config)
    return ManagerBasedRlEnv(config, device="cpu")


def linear(env: Any) -> Any:
    torch.manual_seed(1)
    size = env.observation_manager.group_obs_dim["actor"][0]
    layer = torch.nn.Linear(size, env.action_manager.total_action_dim)
    return lambda observed: 0.1 * torch.tanh(layer(observed["actor"]))


def ports(yaml: str, which: str) -> dict[str, dict[str, Any]]:
    model = leapp.InferenceManager(yaml).models["policy"]
    return {port["name"]: port for port in model[which]}


def test_go1_walks_by_its_bundle(go1: Any, tmp_path: Path) -> None:
    weights = load_file(ROOT / "examples/08_go1_walks/actor.safetensors")
    checkpoint = tmp_path / "model.pt"
    torch.save({"actor_state_dict": weights, "iter": 1, "infos": None}, checkpoint)
    out = tmp_path / "go1"
    assert command.main(["mjlab", GO1, "--checkpoint", str(checkpoint), "-o", str(out)]) == 0
    yaml = str(out / "go1.yaml")
    assert_drives(go1, integration.load_policy(GO1, go1, checkpoint), yaml)

    inputs, outputs = ports(yaml, "inputs"), ports(yaml, "outputs")
    assert inputs["robot_joint_vel"]["unit"] == "rad/s"
    assert inputs["robot_joint_vel"]["element_names"][0][:2] == ["FR_hip_joint", "FR_thigh_joint"]
    assert inputs["imu_ang_vel"]["frame"] == "imu"
    assert inputs["twist"]["kind"] == "command/body/velocity"
    assert outputs["joint_pos_target"]["kind"] == "target/joint/position"
    assert {"joint_pos_kp_gains", "joint_pos_kd_gains", "joint_pos_default"} <= set(outputs)
    configs = leapp.InferenceManager(yaml).pipeline["configs"]
    assert configs["frequency"] == 50
    assert configs["default_pose"]["FR_thigh_joint"] == pytest.approx(0.9)
    assert configs["command_ranges"]["lin_vel_x"] == [-1.5, 2.0]


@pytest.mark.parametrize("task", OTHERS)
def test_other_tasks(task: str, tmp_path: Path) -> None:
    if os.environ.get("LEAPP_MJLAB_TASKS") != "all":
        pytest.skip("LEAPP_MJLAB_TASKS=all runs it")
    env = ManagerBasedRlEnv(configuration(task, tmp_path), device="cpu")
    policy = untrained(task, env)
    assert_drives(env, policy, integration.export_task(env, policy, tmp_path / "out"))
    env.close()


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_recurrent_policies(cartpole: Any, kind: str, tmp_path: Path) -> None:
    policy = untrained(CARTPOLE, cartpole, class_name="RNNModel", rnn_type=kind, rnn_hidden_dim=8)
    assert_drives(cartpole, policy, integration.export_task(cartpole, policy, tmp_path / "out"))


def test_torchscript(cartpole: Any, tmp_path: Path) -> None:
    policy = linear(cartpole)
    yaml = integration.export_task(cartpole, policy, tmp_path / "out", backend="jit")
    assert_drives(cartpole, policy, yaml, 20)


def test_derived_task(tmp_path: Path) -> None:
    def change(config: Any) -> None:
        terms = config.observations["actor"].terms
        first, *rest = terms.values()
        first.history_length = 3
        for term in rest[:1]:
            term.delay_min_lag = term.delay_max_lag = 2
            term.scale, term.clip = 0.5, (-0.2, 0.3)
        terms["phase"] = ObservationTermCfg(func=phase)
        config.observations["actor"].enable_corruption = True

    def phase(env: Any) -> Any:
        return torch.sin(env.episode_length_buf * 0.3).unsqueeze(-1)

    env = derived(change)
    policy = linear(env)
    assert_drives(env, policy, integration.export_task(env, policy, tmp_path / "out"))
    env.close()


def random_delay(config: Any) -> None:
    next(iter(config.observations["actor"].terms.values())).delay_max_lag = 2


def reads_the_simulation(config: Any) -> None:
    def momentum(env: Any) -> Any:
        return env.sim.data.qvel[:, :1]

    config.observations["actor"].terms["momentum"] = ObservationTermCfg(func=momentum)


def relative_action(config: Any) -> None:
    (name, given), *_ = config.actions.items()
    config.actions[name] = RelativeJointPositionActionCfg(
        entity_name=given.entity_name, actuator_names=given.actuator_names
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (random_delay, r"'actor/.*' is delayed by a random number"),
        (reads_the_simulation, r"'actor/momentum' \(momentum\) reads 'qvel' from the simulation"),
        (relative_action, r"RelativeJointPositionAction\) reads state:\w+:joint_pos in each"),
    ],
)
def test_unsupported_terms_are_named(change: Any, words: str, tmp_path: Path) -> None:
    env = derived(change)
    with pytest.raises(LeappError, match=words) as raised:
        integration.export_task(env, linear(env), tmp_path / "out")
    assert raised.value.code == "LP803"
    assert not (tmp_path / "out").exists()
    env.reset()  # and the environment is unchanged
    env.step(torch.zeros(1, env.action_manager.total_action_dim))
    env.close()


def save(policy: Any, folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    weights = dict(policy.state_dict())
    change(weights)
    path = folder / "model.pt"
    torch.save({"actor_state_dict": weights, "iter": 1, "infos": None}, path)
    return path


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda weights: weights.pop("mlp.0.weight"), "LP802"),
        (lambda weights: weights.update({"mlp.0.bias": torch.zeros(3)}), "LP802"),
        (lambda weights: weights.pop("obs_normalizer._mean"), "LP804"),
    ],
)
def test_checkpoints_of_something_else(go1: Any, change: Any, code: str, tmp_path: Path) -> None:
    path = save(untrained(GO1, go1), tmp_path, change)
    with pytest.raises(LeappError) as raised:
        integration.load_policy(GO1, go1, path)
    assert raised.value.code == code


def test_wrong_words(cartpole: Any, tmp_path: Path) -> None:
    path = save(untrained(CARTPOLE, cartpole), tmp_path, lambda weights: None)
    with pytest.raises(LeappError, match=r"no task 'Walk'.*Mjlab-Cartpole-Balance"):
        integration.export_checkpoint("Walk", path, tmp_path / "out")
    with pytest.raises(LeappError, match=r"tracks a motion"):
        integration.export_checkpoint("Mjlab-Tracking-Flat-Unitree-G1", path, tmp_path / "out")
    with pytest.raises(LeappError) as raised:
        integration.export_checkpoint(CARTPOLE, __file__, tmp_path / "out")
    assert raised.value.code == "LP801"
    assert not (tmp_path / "out").exists()


def test_an_environment_is_one(cartpole: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="takes a ManagerBasedRlEnv"):
        integration.export_task(object(), linear(cartpole), tmp_path / "out")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "howto" / "trainers" / "mjlab.md").read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], names)
    assert set(names["targets"]) and (tmp_path / "balance" / "balance.yaml").is_file()
    names["env"].close()
