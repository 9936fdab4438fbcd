"""TorchRL: bundles compared with the actor and its environment's transforms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trainers import assert_same_actions

import leapp
from leapp.integrations import __main__ as command
from leapp.integrations import torchrl as integration

pytest.importorskip("torchrl")
pytest.importorskip("tensordict")

from tensordict import TensorDict
from tensordict.nn import NormalParamExtractor, TensorDictModule, TensorDictSequential
from torchrl.data import Composite, Unbounded
from torchrl.envs import (
    CatFrames,
    CatTensors,
    Compose,
    DoubleToFloat,
    EnvBase,
    InitTracker,
    ObservationNorm,
    RewardSum,
    TransformedEnv,
    VecNorm,
    VecNormV2,
)
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import (
    GRUModule,
    LSTMModule,
    OneHotCategorical,
    ProbabilisticActor,
    QValueActor,
    TanhNormal,
)


class Env(EnvBase):  # type: ignore[misc]
    """An environment of noise, in double precision like some simulators."""

    def __init__(self) -> None:
        super().__init__()
        joints = Unbounded(shape=(4,), dtype=torch.float64)
        self.observation_spec = Composite(joints=joints, base=Unbounded(shape=(2,)))
        self.action_spec = Unbounded(shape=(3,))
        self.reward_spec = Unbounded(shape=(1,))

    def _observe(self) -> Any:
        return self.observation_spec.rand()

    def _reset(self, tensordict: Any = None, **_: Any) -> Any:
        return self._observe()

    def _step(self, tensordict: Any) -> Any:
        return self._observe().update({"reward": torch.zeros(1), "done": torch.zeros(1).bool()})

    def _set_seed(self, seed: int | None) -> None:
        torch.manual_seed(seed or 0)


def mlp(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))


def head(outputs: int = 3, **options: Any) -> Any:
    """Return an actor with a squashed Gaussian."""
    return ProbabilisticActor(
        TensorDictModule(
            nn.Sequential(mlp(6, 2 * outputs), NormalParamExtractor()), ["obs"], ["loc", "scale"]
        ),
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        distribution_kwargs={"low": -2.0, "high": 0.5},
        **options,
    )


def norm(*keys: str, size: int, **options: Any) -> Any:
    loc, scale = torch.randn(size), torch.rand(size) + 0.5
    return ObservationNorm(loc, scale, in_keys=list(keys), standard_normal=True, **options)


CAT = CatTensors(in_keys=["base", "joints"], out_key="obs", del_keys=False)


def env_of(*transforms: Any) -> Any:
    own = (
        CAT.clone() if each is CAT else each for each in transforms
    )  # a transform can be in one environment only
    return TransformedEnv(Env(), Compose(DoubleToFloat(), *own))


def observe() -> dict[str, Any]:
    return {"base": torch.randn(1, 2), "joints": torch.randn(1, 4, dtype=torch.float64)}


def acting(actor: Any, *transforms: Any) -> Any:
    """Return the actor after the transforms, as in the environment."""

    def act(inputs: Any) -> Any:
        data = TensorDict({name: torch.from_numpy(v) for name, v in inputs.items()}, batch_size=[1])
        data["joints"] = data["joints"].float()
        for transform in (*transforms, CAT):
            data = transform._call(data)
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            return actor(data)["action"]

    return act


class TestActors:
    def test_squashed_and_normalized(self, tmp_path: Path, backend: str) -> None:
        actor = head()
        scaler = norm("joints", size=4)
        env = env_of(scaler, CAT, RewardSum())
        yaml = integration.export_policy(actor, tmp_path / "robot", env, backend=backend)
        assert_same_actions(yaml, observe, acting(actor, scaler))

    @pytest.mark.parametrize("kind", [VecNorm, VecNormV2])
    @pytest.mark.filterwarnings("ignore::FutureWarning")
    def test_statistics_of_the_training(self, kind: Any, tmp_path: Path, backend: str) -> None:
        actor, scaler = head(), kind(in_keys=["joints"])
        env = env_of(scaler, CAT)
        env.rollout(20)
        yaml = integration.export_policy(actor, tmp_path / "robot", env, backend=backend)
        assert_same_actions(yaml, observe, acting(actor, scaler.to_observation_norm()))

    def test_a_q_value_actor(self, tmp_path: Path, backend: str) -> None:
        actor = QValueActor(mlp(6, 3), in_keys=["obs"], action_space="one-hot")
        yaml = integration.export_policy(actor, tmp_path / "robot", env_of(CAT), backend=backend)
        assert_same_actions(yaml, observe, acting(actor))

    def test_a_choice(self, tmp_path: Path, backend: str) -> None:
        actor = ProbabilisticActor(
            TensorDictModule(mlp(6, 3), ["obs"], ["logits"]),
            in_keys=["logits"],
            distribution_class=OneHotCategorical,
        )
        yaml = integration.export_policy(actor, tmp_path / "robot", env_of(CAT), backend=backend)
        assert_same_actions(yaml, observe, acting(actor))

    def test_by_an_example(self, tmp_path: Path) -> None:
        actor = head()
        example = {"obs": torch.zeros(5, 6)}
        yaml = integration.export_policy(actor, tmp_path / "robot", example)
        expected = acting(actor)

        def act(inputs: Any) -> Any:
            obs = inputs["obs"]
            return expected({"base": obs[:, :2].copy(), "joints": obs[:, 2:].astype("float64")})

        assert_same_actions(yaml, lambda: {"obs": torch.randn(1, 6)}, act)

    def test_gives_no_message(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        integration.export_policy(head(), tmp_path / "robot", env_of(CAT))
        assert capfd.readouterr().err == ""


@pytest.mark.parametrize("kind", [LSTMModule, GRUModule])
def test_state_goes_on_until_a_reset(kind: Any, tmp_path: Path, backend: str) -> None:
    memory = kind(input_size=6, hidden_size=6, num_layers=2, in_key="obs", out_key="features")
    mean = TensorDictModule(mlp(6, 3), ["features"], ["action"])
    actor = TensorDictSequential(memory, mean)
    env = env_of(CAT, InitTracker(), memory.make_tensordict_primer())
    yaml = integration.export_policy(actor, tmp_path / "robot", env, backend=backend)
    left: dict[str, Any] = {}
    first = True

    def reset() -> None:
        nonlocal first
        first = True

    def act(inputs: Any) -> Any:
        nonlocal first
        parts = [torch.from_numpy(inputs["base"]), torch.from_numpy(inputs["joints"]).float()]
        data = TensorDict({"obs": torch.cat(parts, -1), **left}, batch_size=[1])
        data["is_init"] = torch.full((1, 1), first)
        with torch.no_grad():
            data = actor(data)
        first = False
        left.update({key: data["next", key] for key in list(data["next"].keys())})
        return data["action"]

    assert_same_actions(yaml, observe, act, reset)


class TestCheckpoints:
    def test_weights_of_a_file(self, tmp_path: Path) -> None:
        actor = head()
        torch.save({"actor": actor.state_dict(), "steps": 7}, tmp_path / "actor.pt")
        arguments = (tmp_path / "actor.pt", tmp_path / "robot", head(), env_of(CAT))
        with pytest.raises(leapp.LeappValueError, match=r"key=\.\.") as raised:
            integration.export_checkpoint(*arguments)
        assert raised.value.code == "LP801"
        assert not (tmp_path / "robot").exists()
        yaml = integration.export_checkpoint(*arguments, key="actor")
        assert_same_actions(yaml, observe, acting(actor))

    def test_of_another_architecture(self, tmp_path: Path) -> None:
        torch.save(head().state_dict(), tmp_path / "actor.pt")
        other = head(outputs=5)
        with pytest.raises(leapp.LeappValueError, match="another architecture") as raised:
            integration.export_checkpoint(
                tmp_path / "actor.pt", tmp_path / "robot", other, env_of(CAT)
            )
        assert raised.value.code == "LP802"
        assert not (tmp_path / "robot").exists()

    def test_a_whole_module_is_code(self, tmp_path: Path) -> None:
        torch.save(head(), tmp_path / "actor.pt")
        with pytest.raises(leapp.LeappValueError, match="trust='code'") as raised:
            integration.export_checkpoint(
                tmp_path / "actor.pt", tmp_path / "robot", head(), env_of(CAT)
            )
        assert raised.value.code == "LP805"

    def test_the_command(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "make.py").write_text(
            "import torch\nfrom torch import nn\nfrom tensordict.nn import TensorDictModule\n\n"
            "def make():\n    net = nn.Linear(6, 3)\n"
            "    return TensorDictModule(net, ['obs'], ['action']), {'obs': torch.zeros(1, 6)}\n"
        )
        net = nn.Linear(6, 3)
        torch.save({f"module.{k}": v for k, v in net.state_dict().items()}, tmp_path / "actor.pt")
        arguments = ["torchrl", str(tmp_path / "actor.pt"), "-o", str(tmp_path / "robot")]
        assert command.main([*arguments, "--model", f"{tmp_path / 'make.py'}:make"]) == 0
        yaml = capsys.readouterr().out.strip()
        assert_same_actions(
            yaml,
            lambda: {"obs": torch.randn(1, 6)},
            lambda inputs: net(torch.from_numpy(inputs["obs"])),
        )
        assert command.main([*arguments, "--model", f"{tmp_path / 'make.py'}:none"]) == 1
        assert "has no 'none'" in capsys.readouterr().err


class TestPoliciesWithoutAPlace:
    def refused(self, path: Path, code: str, match: str, *arguments: Any) -> None:
        with pytest.raises(leapp.LeappValueError, match=match) as raised:
            integration.export_policy(arguments[0], path / "robot", *arguments[1:])
        assert raised.value.code == code
        assert not (path / "robot").exists()

    def test_of_an_unknown_class(self, tmp_path: Path) -> None:
        self.refused(tmp_path, "LP803", "got Linear", nn.Linear(2, 2), {})

    def test_a_transform_with_a_memory(self, tmp_path: Path) -> None:
        frames = CatFrames(N=2, dim=-1, in_keys=["base"])
        self.refused(tmp_path, "LP803", "CatFrames", head(), env_of(frames, CAT))

    def test_statistics_that_are_not_there(self, tmp_path: Path) -> None:
        scaler = ObservationNorm(in_keys=["joints"])
        env = env_of(scaler, CAT)
        self.refused(tmp_path, "LP804", "ObservationNorm", head(), env)

    def test_an_input_without_an_observation(self, tmp_path: Path) -> None:
        self.refused(tmp_path, "LP803", "'obs'", head(), {"base": torch.zeros(1, 2)})
