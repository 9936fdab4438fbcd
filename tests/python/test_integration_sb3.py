"""Stable-Baselines3 and SB3 Contrib: bundles compared with ``predict``, and unsuitable files."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from trainers import assert_same_actions

import leapp
from leapp.integrations import __main__ as command

gymnasium = pytest.importorskip("gymnasium")
stable_baselines3 = pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import sb3_contrib  # noqa: E402
from gymnasium import spaces  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize  # noqa: E402

from leapp.integrations import sb3  # noqa: E402

VECTOR = spaces.Box(-np.inf, np.inf, (5,), np.float32)
IMAGE = spaces.Box(0, 255, (3, 36, 36), np.uint8)
DICT = spaces.Dict({"camera": IMAGE, "joints": VECTOR, "gait": spaces.Discrete(3)})
BOX = spaces.Box(np.array([-2.0, -0.1]), np.array([1.0, 0.1]), dtype=np.float32)
DISCRETE = spaces.Discrete(4)


class Env(gymnasium.Env):  # type: ignore[misc]
    """An environment of noise without rewards."""

    def __init__(self, observation: Any = VECTOR, action: Any = BOX) -> None:
        self.observation_space, self.action_space = observation, action

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observation_space.sample(), 0.0, False, False, {}

    def action_masks(self) -> np.ndarray:
        return np.ones(self.action_space.n, bool)


def model_of(algorithm: str, policy: str, observation: Any, action: Any, **options: Any) -> Any:
    """Return an untrained model whose actions depend on the observation."""
    kind = getattr(stable_baselines3, algorithm, None) or getattr(sb3_contrib, algorithm)
    env = Env(observation, action)
    if algorithm in ("DQN", "QRDQN", "SAC", "TD3", "DDPG", "TQC", "CrossQ"):
        options["buffer_size"] = 10
    model = kind(policy, env, seed=0, device="cpu", **options)
    with torch.no_grad():  # the last layers begin near zero
        for parameter in model.policy.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def observed(space: Any) -> Callable[[], dict[str, Any]]:
    """Return the inputs of the bundle."""
    names = space.spaces if isinstance(space, spaces.Dict) else {"obs": space}
    return lambda: {name: np.asarray(each.sample())[None] for name, each in names.items()}


def predicted(model: Any) -> Callable[[Any], Any]:
    """Return the trainer's actions for the same observation."""

    def act(inputs: Any) -> Any:
        inputs = dict(inputs)
        single = not isinstance(model.observation_space, spaces.Dict)
        return model.predict(inputs["obs"] if single else inputs, deterministic=True)[0]

    return act


MODELS = {
    "ppo": ("PPO", "MlpPolicy", VECTOR, BOX, {}),
    "ppo_sde_squashed": (
        "PPO", "MlpPolicy", VECTOR, BOX, {"use_sde": True, "policy_kwargs": {"squash_output": True}}
    ),
    "ppo_cnn": ("PPO", "CnnPolicy", IMAGE, BOX, {}),
    "ppo_dict": ("PPO", "MultiInputPolicy", DICT, BOX, {}),
    "ppo_discrete": ("PPO", "MlpPolicy", spaces.Discrete(6), DISCRETE, {}),
    "ppo_multi": (
        "PPO", "MlpPolicy", spaces.MultiDiscrete([3, 4]), spaces.MultiDiscrete([2, 5]), {}
    ),
    "a2c_binary": ("A2C", "MlpPolicy", spaces.MultiBinary(6), spaces.MultiBinary(3), {}),
    "a2c_relu": (
        "A2C", "MlpPolicy", VECTOR, BOX,
        {"policy_kwargs": {"activation_fn": torch.nn.ReLU, "net_arch": [16]}},
    ),
    "sac": ("SAC", "MlpPolicy", VECTOR, BOX, {}),
    "td3": ("TD3", "MlpPolicy", VECTOR, BOX, {}),
    "ddpg": ("DDPG", "MlpPolicy", VECTOR, BOX, {}),
    "dqn": ("DQN", "MlpPolicy", VECTOR, DISCRETE, {}),
    "tqc": ("TQC", "MlpPolicy", VECTOR, BOX, {}),
    "trpo": ("TRPO", "MlpPolicy", VECTOR, BOX, {}),
    "qrdqn": ("QRDQN", "MlpPolicy", VECTOR, DISCRETE, {}),
    "crossq": ("CrossQ", "MlpPolicy", VECTOR, BOX, {}),
    "ars": ("ARS", "LinearPolicy", VECTOR, BOX, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_acts_as_predict_does(name: str, tmp_path: Path, backend: str) -> None:
    algorithm, policy, observation, action, options = MODELS[name]
    model = model_of(algorithm, policy, observation, action, **options)
    if backend == "onnx":
        yaml = sb3.export_policy(model, tmp_path / "robot", backend=backend)
    else:
        model.save(tmp_path / "model.zip")
        yaml = sb3.export_checkpoint(tmp_path / "model.zip", tmp_path / "robot", backend=backend)
    assert_same_actions(yaml, observed(observation), predicted(model))


def test_no_message_for_a_policy_of_the_library(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sb3.export_policy(model_of("PPO", "MultiInputPolicy", DICT, DISCRETE), tmp_path / "robot")
    assert capfd.readouterr().err == ""


class TestRecurrent:
    @pytest.mark.parametrize("policy", ["MlpLstmPolicy", "CnnLstmPolicy"])
    def test_state_goes_on_until_a_reset(self, policy: str, tmp_path: Path, backend: str) -> None:
        space = IMAGE if policy.startswith("Cnn") else VECTOR
        options = {"policy_kwargs": {"n_lstm_layers": 2, "lstm_hidden_size": 16}}
        model = model_of("RecurrentPPO", policy, space, BOX, n_steps=8, **options)
        model.save(tmp_path / "model.zip")
        yaml = sb3.export_checkpoint(tmp_path / "model.zip", tmp_path / "robot", backend=backend)
        state = None

        def act(inputs: Any) -> Any:
            nonlocal state
            action, state = model.predict(inputs["obs"], state=state, deterministic=True)
            return action

        def reset() -> None:
            nonlocal state
            state = None

        assert_same_actions(yaml, observed(space), act, reset)


class TestMasks:
    @pytest.mark.parametrize("action", [DISCRETE, spaces.MultiDiscrete([2, 3])])
    def test_are_an_input(self, action: Any, tmp_path: Path, backend: str) -> None:
        model = model_of("MaskablePPO", "MlpPolicy", VECTOR, action)
        yaml = sb3.export_policy(model, tmp_path / "robot", backend=backend)
        choices = 4 if action is DISCRETE else 5

        def observe() -> dict[str, Any]:
            mask = np.random.default_rng().random((1, choices)) < 0.6
            return {"obs": VECTOR.sample()[None], "action_masks": mask}

        def act(inputs: Any) -> Any:
            masks = inputs["action_masks"]
            return model.predict(inputs["obs"], deterministic=True, action_masks=masks)[0]

        assert_same_actions(yaml, observe, act)


class TestVecNormalize:
    @staticmethod
    def trained(space: Any, policy: str, **options: Any) -> tuple[Any, Any]:
        """Return a model that learned a little from normalised observations."""
        normalizer = VecNormalize(
            DummyVecEnv([lambda: Env(space, BOX)]), clip_obs=1.5, norm_reward=False, **options
        )
        model = stable_baselines3.PPO(policy, normalizer, n_steps=16, batch_size=16, device="cpu")
        model.learn(32)
        return model, normalizer

    @pytest.mark.parametrize("saved", [False, True])
    def test_is_part_of_the_bundle(self, saved: bool, tmp_path: Path, backend: str) -> None:
        model, normalizer = self.trained(VECTOR, "MlpPolicy")
        options = {"backend": backend}
        if saved:
            model.save(tmp_path / "model.zip")
            normalizer.save(tmp_path / "norm.pkl")
            yaml = sb3.export_checkpoint(
                tmp_path / "model.zip", tmp_path / "r", normalizer=tmp_path / "norm.pkl", **options
            )
        else:
            yaml = sb3.export_policy(model, tmp_path / "r", **options)
        act = predicted(model)
        assert_same_actions(
            yaml,
            lambda: {"obs": 3 * VECTOR.sample()[None]},
            lambda inputs: act({"obs": normalizer.normalize_obs(inputs["obs"])}),
        )

    def test_of_some_keys(self, tmp_path: Path, backend: str) -> None:
        model, normalizer = self.trained(DICT, "MultiInputPolicy", norm_obs_keys=["joints"])
        yaml = sb3.export_policy(model, tmp_path / "r", backend=backend)
        act = predicted(model)
        assert_same_actions(
            yaml, observed(DICT), lambda inputs: act(normalizer.normalize_obs(dict(inputs)))
        )

    def test_is_missed(self, tmp_path: Path) -> None:
        model, _ = self.trained(VECTOR, "MlpPolicy")
        model.save(tmp_path / "model.zip")
        with pytest.raises(leapp.LeappValueError, match="VecNormalize") as raised:
            sb3.export_checkpoint(tmp_path / "model.zip", tmp_path / "r")
        assert raised.value.code == "LP804"
        assert not (tmp_path / "r").exists()
        sb3.export_checkpoint(tmp_path / "model.zip", tmp_path / "r", normalizer=False)

    def test_of_another_environment(self, tmp_path: Path) -> None:
        _, normalizer = self.trained(spaces.Box(-1, 1, (7,), np.float32), "MlpPolicy")
        model = model_of("PPO", "MlpPolicy", VECTOR, BOX)
        with pytest.raises(leapp.LeappValueError, match="another environment") as raised:
            sb3.export_policy(model, tmp_path / "r", normalizer=normalizer)
        assert raised.value.code == "LP802"
        assert not (tmp_path / "r").exists()


def test_images_as_cameras_give_them(tmp_path: Path) -> None:
    model = model_of("PPO", "MultiInputPolicy", DICT, BOX)
    yaml = sb3.export_policy(model, tmp_path / "robot", channels_last=True)
    act = predicted(model)

    def observe() -> dict[str, Any]:
        inputs = observed(DICT)()
        return {**inputs, "camera": inputs["camera"].transpose(0, 2, 3, 1)}

    # predict() transposes images with channels last by itself.
    assert_same_actions(yaml, observe, act)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of("TQC", "MlpPolicy", VECTOR, BOX)
    model.save(tmp_path / "model.zip")
    output = str(tmp_path / "robot")
    assert command.main(["sb3_contrib", str(tmp_path / "model.zip"), "-o", output]) == 0
    yaml = capsys.readouterr().out.strip()
    assert_same_actions(yaml, observed(VECTOR), predicted(model))
    assert command.main(["sb3", str(tmp_path / "none.zip"), "-o", output]) == 1
    assert "[LP004]" in capsys.readouterr().err


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("bomb"),))


class Extractor(stable_baselines3.common.torch_layers.FlattenExtractor):  # type: ignore[misc]
    """A class of the user."""


class TestFilesThatAreNotTheirs:
    def refused(self, path: Path, code: str, **options: Any) -> None:
        output = path.parent / "robot"
        with pytest.raises(leapp.LeappError, match=path.name) as raised:
            sb3.export_checkpoint(path, output, **options)
        assert raised.value.code == code
        assert not output.exists()

    def test_no_archive(self, tmp_path: Path) -> None:
        (tmp_path / "model.zip").write_text("weights")
        self.refused(tmp_path / "model.zip", "LP801")

    def test_another_archive(self, tmp_path: Path) -> None:
        torch.save({"actor": torch.zeros(3)}, tmp_path / "model.zip")
        self.refused(tmp_path / "model.zip", "LP801")

    def test_weights_of_another_network(self, tmp_path: Path) -> None:
        model = model_of("PPO", "MlpPolicy", VECTOR, BOX)
        model.save(tmp_path / "small.zip")
        model_of("PPO", "MlpPolicy", spaces.Box(-1, 1, (9,)), BOX).save(tmp_path / "large.zip")
        with (
            zipfile.ZipFile(tmp_path / "small.zip") as small,
            zipfile.ZipFile(tmp_path / "large.zip") as large,
            zipfile.ZipFile(tmp_path / "mixed.zip", "w") as mixed,
        ):
            mixed.writestr("data", small.read("data"))
            mixed.writestr("policy.pth", large.read("policy.pth"))
        self.refused(tmp_path / "mixed.zip", "LP802")

    def test_code_is_run_only_when_trusted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        options = {"policy_kwargs": {"features_extractor_class": Extractor}}
        model = model_of("PPO", "MlpPolicy", VECTOR, BOX, **options)
        model.save(tmp_path / "model.zip")
        self.refused(tmp_path / "model.zip", "LP805")
        yaml = sb3.export_checkpoint(tmp_path / "model.zip", tmp_path / "robot", trust="code")
        assert_same_actions(yaml, observed(VECTOR), predicted(model))

    def test_a_pickle_that_does_something(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        model_of("PPO", "MlpPolicy", VECTOR, BOX).save(tmp_path / "model.zip")
        (tmp_path / "norm.pkl").write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(leapp.LeappValueError, match="norm") as raised:
            sb3.export_checkpoint(tmp_path / "model.zip", tmp_path / "r", normalizer="norm.pkl")
        assert raised.value.code == "LP805"
        assert not (tmp_path / "bomb").exists()

    def test_an_unknown_space(self, tmp_path: Path) -> None:
        policy = model_of("PPO", "MlpPolicy", VECTOR, BOX).policy
        policy.observation_space = spaces.Text(4)
        with pytest.raises(leapp.LeappValueError, match="'obs' has the space Text") as raised:
            sb3.export_policy(policy, tmp_path / "robot")
        assert raised.value.code == "LP803"
        assert not (tmp_path / "robot").exists()

    def test_an_unknown_policy(self, tmp_path: Path) -> None:
        with pytest.raises(leapp.LeappValueError, match="got Linear") as raised:
            sb3.export_policy(torch.nn.Linear(2, 2), tmp_path / "robot")
        assert raised.value.code == "LP803"
