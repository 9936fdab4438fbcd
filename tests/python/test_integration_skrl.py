"""skrl: bundles compared with the actions of its agents, and unsuitable checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from trainers import assert_same_actions

import leapp
from leapp.integrations import __main__ as command
from leapp.integrations import skrl as integration

pytest.importorskip("skrl")
spaces = pytest.importorskip("gymnasium").spaces

from skrl.agents.torch.dqn import DQN, DQN_CFG  # noqa: E402
from skrl.agents.torch.ppo import PPO, PPO_CFG  # noqa: E402
from skrl.agents.torch.td3 import TD3, TD3_CFG  # noqa: E402
from skrl.models.torch import (  # noqa: E402
    CategoricalMixin,
    DeterministicMixin,
    GaussianMixin,
    Model,
    MultiCategoricalMixin,
)
from skrl.resources.preprocessors.torch import RunningStandardScaler  # noqa: E402
from skrl.utils.model_instantiators import torch as instantiators  # noqa: E402

VECTOR = spaces.Box(-np.inf, np.inf, (6,), np.float32)
BOX = spaces.Box(-0.2, 0.2, (3,), np.float32)
SPACES: dict[str, Any] = {"observation_space": VECTOR, "action_space": BOX, "device": "cpu"}


def mlp(outputs: int, inputs: int = 6) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 16), nn.ELU(), nn.Linear(16, outputs))


class Gaussian(GaussianMixin, Model):  # type: ignore[misc]
    def __init__(self, **options: Any) -> None:
        Model.__init__(self, **SPACES)
        GaussianMixin.__init__(self, **options)
        self.net = mlp(3)
        self.log_std_parameter = nn.Parameter(torch.zeros(3))

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(inputs["observations"]), {"log_std": self.log_std_parameter}


class Recurrent(GaussianMixin, Model):  # type: ignore[misc]
    """The policy was trained with seven environments."""

    def __init__(self, kind: type[nn.Module]) -> None:
        Model.__init__(self, **SPACES)
        GaussianMixin.__init__(self)
        self.rnn = kind(6, 8, num_layers=2, batch_first=True)
        self.net = mlp(3, 8)
        self.log_std_parameter = nn.Parameter(torch.zeros(3))

    def get_specification(self) -> Any:
        count = 2 if isinstance(self.rnn, nn.LSTM) else 1
        return {"rnn": {"sequence_length": 4, "sizes": [(2, 7, 8)] * count}}

    def compute(self, inputs: Any, role: str = "") -> Any:
        states = tuple(inputs["rnn"])
        given = states if len(states) > 1 else states[0]
        out, left = self.rnn(inputs["observations"].view(-1, 1, 6), given)
        left = list(left) if isinstance(left, tuple) else [left]
        return self.net(out[:, 0]), {"log_std": self.log_std_parameter, "rnn": left}


class Deterministic(DeterministicMixin, Model):  # type: ignore[misc]
    def __init__(self, outputs: int = 3, **options: Any) -> None:
        Model.__init__(self, **SPACES)
        DeterministicMixin.__init__(self, **options)
        self.net = mlp(outputs)

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


class Categorical(CategoricalMixin, Model):  # type: ignore[misc]
    def __init__(self) -> None:
        Model.__init__(self, **{**SPACES, "action_space": spaces.Discrete(4)})
        CategoricalMixin.__init__(self, unnormalized_log_prob=True)
        self.net = mlp(4)

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


class MultiCategorical(MultiCategoricalMixin, Model):  # type: ignore[misc]
    def __init__(self) -> None:
        Model.__init__(self, **{**SPACES, "action_space": spaces.MultiDiscrete([2, 3])})
        MultiCategoricalMixin.__init__(self, unnormalized_log_prob=True)
        self.net = mlp(5)

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


def scaler_of() -> Any:
    """Return a scaler that has statistics."""
    scaler = RunningStandardScaler(size=6, device="cpu", clip_threshold=1.5)
    scaler(3 * torch.randn(64, 6) + 1, train=True)
    return scaler


def ppo_of(policy: Any, **options: Any) -> Any:
    cfg = PPO_CFG(
        observation_preprocessor=RunningStandardScaler,
        observation_preprocessor_kwargs={"size": 6, "device": "cpu", "clip_threshold": 1.5},
        **options,
    )
    agent = PPO(models={"policy": policy, "value": Deterministic(1)}, cfg=cfg, **SPACES)
    agent._observation_preprocessor.load_state_dict(scaler_of().state_dict())
    return agent


def observe() -> dict[str, Any]:
    return {"observations": 3 * torch.randn(1, 6)}


def acting(agent: Any) -> Any:
    """Return the agent's action, as skrl's own evaluation computes it."""

    def act(inputs: Any) -> Any:
        with torch.no_grad():
            observations = torch.from_numpy(inputs["observations"])
            actions, outputs = agent.act(observations, None, timestep=10**6, timesteps=10**6)
        return outputs.get("mean_actions", actions)

    return act


class TestAgents:
    @pytest.mark.parametrize("clip", [False, True])
    def test_ppo(self, clip: bool, tmp_path: Path, backend: str) -> None:
        agent = ppo_of(Gaussian(clip_mean_actions=clip))
        yaml = integration.export_policy(agent, tmp_path / "robot", backend=backend)
        assert_same_actions(yaml, observe, acting(agent), output="actions")

    def test_td3(self, tmp_path: Path, backend: str) -> None:
        names = ("critic_1", "critic_2", "target_policy", "target_critic_1", "target_critic_2")
        models = {name: Deterministic() for name in names}
        models["policy"] = Deterministic(clip_actions=True)
        agent = TD3(models=models, cfg=TD3_CFG(), **SPACES)
        yaml = integration.export_policy(agent, tmp_path / "robot", backend=backend)
        assert_same_actions(yaml, observe, acting(agent), output="actions")

    def test_dqn(self, tmp_path: Path, backend: str) -> None:
        models = {"q_network": Deterministic(4), "target_q_network": Deterministic(4)}
        options = {**SPACES, "action_space": spaces.Discrete(4)}
        agent = DQN(models=models, cfg=DQN_CFG(exploration_scheduler=None), **options)
        yaml = integration.export_policy(agent, tmp_path / "robot", backend=backend)
        assert_same_actions(yaml, observe, acting(agent), output="actions")


class TestModels:
    @pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
    def test_state_goes_on_until_a_reset(self, kind: Any, tmp_path: Path, backend: str) -> None:
        model, scaler = Recurrent(kind).eval(), scaler_of()
        yaml = integration.export_policy(
            model, tmp_path / "robot", preprocessor=scaler, backend=backend
        )
        states: list[torch.Tensor] = []

        def reset() -> None:
            states[:] = [torch.zeros(2, 1, 8)] * len(model.get_specification()["rnn"]["sizes"])

        def act(inputs: Any) -> Any:
            given = {"observations": scaler(torch.from_numpy(inputs["observations"]))}
            with torch.no_grad():
                _, outputs = model.act({**given, "rnn": states}, role="policy")
            states[:] = outputs["rnn"]
            return outputs["mean_actions"]

        assert_same_actions(yaml, observe, act, reset, output="actions")

    def test_the_most_probable_choice(self, tmp_path: Path, backend: str) -> None:
        model = Categorical()
        yaml = integration.export_policy(model, tmp_path / "robot", backend=backend)

        def act(inputs: Any) -> Any:
            model.act({"observations": torch.from_numpy(inputs["observations"])}, role="policy")
            return model.distribution().probs.argmax(-1, keepdim=True)

        assert_same_actions(yaml, observe, act, output="actions")

    def test_the_most_probable_of_several_choices(self, tmp_path: Path, backend: str) -> None:
        model = MultiCategorical()
        yaml = integration.export_policy(model, tmp_path / "robot", backend=backend)

        def act(inputs: Any) -> Any:
            first, second = model.net(torch.from_numpy(inputs["observations"])).split([2, 3], -1)
            return torch.stack([first.argmax(-1), second.argmax(-1)], dim=-1)

        assert_same_actions(yaml, observe, act, output="actions")

    def test_gives_no_message(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        integration.export_policy(Categorical(), tmp_path / "robot")
        integration.export_policy(Gaussian(), tmp_path / "robot")
        assert capfd.readouterr().err == ""

    def test_drawing_goes_on_afterwards(self, tmp_path: Path) -> None:
        integration.export_policy(Gaussian(), tmp_path / "robot")
        normal = torch.distributions.Normal(torch.zeros(8), torch.ones(8))
        assert normal.rsample().abs().sum() > 0


NETWORK = [{"name": "net", "input": "OBSERVATIONS", "layers": [16, 8], "activations": "elu"}]
AGENT = {
    "class": "PPO",
    "observation_preprocessor": "RunningStandardScaler",
    "observation_preprocessor_kwargs": {"clip_threshold": 1.5},
}


def config_of(separate: bool, **policy: Any) -> dict[str, Any]:
    """Return a configuration of skrl's Runner."""
    policy = {"class": "GaussianMixin", "network": NETWORK, "output": "2 * tanh(ACTIONS)", **policy}
    value = {"class": "DeterministicMixin", "network": NETWORK, "output": "ONE"}
    return {"models": {"separate": separate, "policy": policy, "value": value}, "agent": AGENT}


def model_of(config: Any) -> Any:
    """Return the agent that the Runner creates from it."""
    options: dict[str, Any] = {**SPACES, "state_space": None}
    models = {name: dict(part) for name, part in config["models"].items() if name != "separate"}
    kinds = [part.pop("class") for part in models.values()]
    if config["models"]["separate"]:
        model = instantiators.gaussian_model(**options, **models["policy"])
    else:
        model = instantiators.shared_model(
            **options, structure=kinds, roles=list(models), parameters=list(models.values())
        )
    for role in models if not config["models"]["separate"] else ["policy"]:
        model.init_state_dict(role=role)
    return model


def save(agent: Any, path: Path) -> None:
    """Return the checkpoint that an agent writes."""
    modules = agent.checkpoint_modules.items()
    torch.save({name: agent._get_internal_value(module) for name, module in modules}, path)


class TestCheckpoints:
    @pytest.mark.parametrize("separate", [False, True])
    def test_by_the_runners_configuration(self, separate: bool, tmp_path: Path) -> None:
        config = config_of(separate)
        agent = ppo_of(model_of(config))
        save(agent, tmp_path / "agent.pt")
        yaml = integration.export_checkpoint(tmp_path / "agent.pt", tmp_path / "r", config=config)
        assert_same_actions(yaml, observe, acting(agent), output="actions")

    def test_by_a_model_of_ones_own(self, tmp_path: Path) -> None:
        agent = ppo_of(Gaussian())
        save(agent, tmp_path / "agent.pt")
        with pytest.raises(leapp.LeappValueError, match="model=") as raised:
            integration.export_checkpoint(tmp_path / "agent.pt", tmp_path / "r")
        assert raised.value.code == "LP003"
        config = {"agent": AGENT}
        yaml = integration.export_checkpoint(
            tmp_path / "agent.pt", tmp_path / "r", model=Gaussian(), config=config
        )
        assert_same_actions(yaml, observe, acting(agent), output="actions")

    def test_the_preprocessor_is_missed(self, tmp_path: Path) -> None:
        config = config_of(True)
        torch.save(model_of(config).state_dict(), tmp_path / "policy.pt")
        with pytest.raises(leapp.LeappValueError, match="RunningStandardScaler") as raised:
            integration.export_checkpoint(tmp_path / "policy.pt", tmp_path / "r", config=config)
        assert raised.value.code == "LP804"
        assert not (tmp_path / "r").exists()

    def test_limits_that_no_file_has(self, tmp_path: Path) -> None:
        config = config_of(True, clip_mean_actions=True)
        save(ppo_of(model_of(config)), tmp_path / "agent.pt")
        with pytest.raises(leapp.LeappValueError, match="clip_mean_actions") as raised:
            integration.export_checkpoint(tmp_path / "agent.pt", tmp_path / "r", config=config)
        assert raised.value.code == "LP803"

    def test_of_another_architecture(self, tmp_path: Path) -> None:
        save(ppo_of(Gaussian()), tmp_path / "agent.pt")
        with pytest.raises(leapp.LeappValueError, match="another architecture") as raised:
            integration.export_checkpoint(
                tmp_path / "agent.pt", tmp_path / "r", config=config_of(True)
            )
        assert raised.value.code == "LP802"
        assert not (tmp_path / "r").exists()

    @pytest.mark.parametrize("output", ["exec('1')", "ACTIONS.__class__", "ACTIONS\nimport os"])
    def test_a_configuration_that_is_a_program(self, output: str, tmp_path: Path) -> None:
        config = config_of(True)
        save(ppo_of(model_of(config)), tmp_path / "agent.pt")
        config["models"]["policy"]["output"] = output
        with pytest.raises(leapp.LeappValueError, match="configuration says") as raised:
            integration.export_checkpoint(tmp_path / "agent.pt", tmp_path / "r", config=config)
        assert raised.value.code == "LP805"

    def test_of_another_trainer(self, tmp_path: Path) -> None:
        torch.save({"actor_state_dict": {"w": torch.zeros(1)}}, tmp_path / "agent.pt")
        with pytest.raises(leapp.LeappValueError, match="actor_state_dict") as raised:
            integration.export_checkpoint(tmp_path / "agent.pt", tmp_path / "r", config={})
        assert raised.value.code == "LP801"


class Privileged(Gaussian):
    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(inputs["states"]), {"log_std": self.log_std_parameter}


class TestPoliciesWithoutAPlace:
    def test_that_want_the_simulator(self, tmp_path: Path) -> None:
        with pytest.raises(leapp.LeappValueError, match="only a simulator has") as raised:
            integration.export_policy(Privileged(), tmp_path / "robot")
        assert raised.value.code == "LP803"
        assert not (tmp_path / "robot").exists()

    def test_that_observe_several_things(self, tmp_path: Path) -> None:
        model = Gaussian()
        model.observation_space = spaces.Dict({"joints": VECTOR})
        with pytest.raises(leapp.LeappValueError, match="Flatten it") as raised:
            integration.export_policy(model, tmp_path / "robot")
        assert raised.value.code == "LP803"

    def test_of_an_unknown_class(self, tmp_path: Path) -> None:
        with pytest.raises(leapp.LeappValueError, match="got Linear") as raised:
            integration.export_policy(nn.Linear(2, 2), tmp_path / "robot")
        assert raised.value.code == "LP803"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    yaml = pytest.importorskip("yaml")
    config = config_of(False)
    agent = ppo_of(model_of(config))
    (tmp_path / "params").mkdir()
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "params" / "agent.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    checkpoint = tmp_path / "checkpoints" / "agent_100.pt"
    save(agent, checkpoint)
    assert command.main(["skrl", str(checkpoint), "-o", str(tmp_path / "robot")]) == 0
    assert_same_actions(capsys.readouterr().out.strip(), observe, acting(agent), output="actions")
