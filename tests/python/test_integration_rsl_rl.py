"""RSL-RL: bundles compared with the actor's own actions; checkpoints of old and new releases."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from trainers import assert_same_actions

import leapp
from leapp.integrations import __main__ as command
from leapp.integrations import rsl_rl

models = pytest.importorskip("rsl_rl.models")
tensordict = pytest.importorskip("tensordict")

GROUPS = {"actor": ["base", "joints"]}
SIZES = {"base": (4,), "joints": (5,), "camera": (2, 12, 16)}
GAUSSIAN = {"class_name": "GaussianDistribution", "init_std": 1.0}
CNN = {"output_channels": [4, 8], "kernel_size": 3, "stride": 2, "norm": "batch"}


def actor_of(kind: str, *, groups: Any = GROUPS, **options: Any) -> Any:
    """Return an actor with a normaliser that has statistics."""
    obs = tensordict.TensorDict({n: torch.zeros(2, *s) for n, s in SIZES.items()}, batch_size=2)
    options = {"hidden_dims": [16, 8], "distribution_cfg": GAUSSIAN, **options}
    given = copy.deepcopy(options)  # the runner removes the names of classes from it
    actor = getattr(models, kind)(obs, groups, "actor", 3, **given)
    if options.get("obs_normalization"):
        batch = {n: 2 * torch.randn(64, *s) + 1 for n, s in SIZES.items()}
        actor.train().update_normalization(tensordict.TensorDict(batch, batch_size=64))
    with torch.no_grad():
        for name, buffer in actor.named_buffers():
            if "running" in name:
                buffer.uniform_(0.5, 2)
    return actor.eval()


def assert_same(yaml: str, actor: Any, groups: Any = GROUPS) -> None:
    """Return the bundle and the actor, whose groups are concatenated in ``obs``."""
    vectors = [name for name in groups["actor"] if len(SIZES[name]) == 1]

    def observe() -> dict[str, Any]:
        inputs = {n: torch.randn(1, *SIZES[n]) for n in groups["actor"] if n not in vectors}
        return {"obs": torch.randn(1, sum(SIZES[name][0] for name in vectors)), **inputs}

    def act(inputs: Any) -> Any:
        given = {name: torch.from_numpy(value) for name, value in inputs.items()}
        parts = given.pop("obs").split([SIZES[name][0] for name in vectors], dim=-1)
        given |= dict(zip(vectors, parts, strict=True))
        with torch.no_grad():
            return actor(tensordict.TensorDict(given, batch_size=1))

    assert_same_actions(yaml, observe, act, actor.reset, output="actions")


ACTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp": ("MLPModel", {"activation": "elu"}),
    "mlp_normalized": ("MLPModel", {"obs_normalization": True, "activation": "tanh"}),
    "lstm": ("RNNModel", {"obs_normalization": True, "rnn_hidden_dim": 8, "rnn_num_layers": 2}),
    "gru": ("RNNModel", {"rnn_type": "gru", "rnn_hidden_dim": 8}),
    "beta": ("MLPModel", {"distribution_cfg": {"class_name": "BetaDistribution"}}),
    "heteroscedastic": (
        "MLPModel",
        {"distribution_cfg": {"class_name": "HeteroscedasticGaussianDistribution"}},
    ),
}


@pytest.mark.parametrize("name", ACTORS)
class TestActors:
    def test_live(self, name: str, tmp_path: Path, backend: str) -> None:
        kind, options = ACTORS[name]
        actor = actor_of(kind, **options)
        assert_same(rsl_rl.export_policy(actor, tmp_path / "robot", backend=backend), actor)

    def test_saved(self, name: str, tmp_path: Path) -> None:
        kind, options = ACTORS[name]
        actor = actor_of(kind, **options)
        saved = {"actor_state_dict": actor.state_dict(), "iter": 7, "infos": None}
        torch.save(saved, tmp_path / "model_7.pt")
        section = {"class_name": kind, "hidden_dims": [16, 8], "distribution_cfg": GAUSSIAN}
        config = {"actor": {"activation": "elu", **section, **options}}
        yaml = rsl_rl.export_checkpoint(tmp_path / "model_7.pt", tmp_path / "r", config=config)
        assert_same(yaml, actor)


class TestConfigurations:
    """Files as trainers write them, with options that the actor's class does not have."""

    MJLAB: ClassVar[dict[str, Any]] = {
        "class_name": "MLPModel",
        "hidden_dims": [16, 8],
        "activation": "elu",
        "cnn_cfg": None,
        "distribution_cfg": GAUSSIAN,
        "rnn_type": None,
        "rnn_hidden_dim": 256,
        "rnn_num_layers": 1,
    }

    def test_null_options_are_left_out(self, tmp_path: Path) -> None:
        actor = actor_of("MLPModel", activation="elu")
        torch.save({"actor_state_dict": actor.state_dict()}, tmp_path / "model.pt")
        yaml = rsl_rl.export_checkpoint(
            tmp_path / "model.pt", tmp_path / "r", config={"actor": self.MJLAB}
        )
        assert_same(yaml, actor)

    @pytest.mark.parametrize("dependent", [False, True])
    def test_the_noise_of_rsl_rl_4_0_is_read(self, dependent: bool, tmp_path: Path) -> None:
        kind = "HeteroscedasticGaussianDistribution" if dependent else "GaussianDistribution"
        actor = actor_of("MLPModel", activation="elu", distribution_cfg={"class_name": kind})
        weights = actor.state_dict()
        if not dependent:
            weights["std"] = weights.pop("distribution.std_param")
        torch.save({"actor_state_dict": weights}, tmp_path / "model.pt")
        section = {"class_name": "MLPModel", "hidden_dims": [16, 8], "activation": "elu"}
        section |= {"stochastic": True, "init_noise_std": 1.0, "noise_std_type": "scalar"}
        config = {"actor": {**section, "state_dependent_std": dependent}}
        yaml = rsl_rl.export_checkpoint(tmp_path / "model.pt", tmp_path / "r", config=config)
        assert_same(yaml, actor)

    def test_an_unknown_option_is_named(self, tmp_path: Path) -> None:
        actor = actor_of("MLPModel", activation="elu")
        torch.save({"actor_state_dict": actor.state_dict()}, tmp_path / "model.pt")
        config = {"actor": {**self.MJLAB, "window": 3}}
        with pytest.raises(leapp.LeappError, match="window") as refused:
            rsl_rl.export_checkpoint(tmp_path / "model.pt", tmp_path / "r", config=config)
        assert refused.value.code == "LP003"


class Env:
    """An environment with everything that a runner reads."""

    num_envs, num_actions, max_episode_length, device = 2, 3, 10, "cpu"
    cfg: ClassVar[dict[str, Any]] = {}

    def get_observations(self) -> Any:
        groups = {name: torch.randn(2, *size) for name, size in SIZES.items()}
        return tensordict.TensorDict(groups, batch_size=2)


def test_a_runner_and_its_checkpoint(tmp_path: Path) -> None:
    runners = pytest.importorskip("rsl_rl.runners")
    network = {"class_name": "MLPModel", "hidden_dims": [16, 8], "activation": "elu"}
    config = {
        "algorithm": {"class_name": "PPO"},
        "actor": {**network, "obs_normalization": True, "distribution_cfg": GAUSSIAN},
        "critic": dict(network),
        "obs_groups": {"actor": GROUPS["actor"], "critic": GROUPS["actor"]},
        "num_steps_per_env": 2,
        "save_interval": 1,
    }
    runner = runners.OnPolicyRunner(Env(), copy.deepcopy(config), log_dir=None, device="cpu")
    runner.alg.train_mode()
    runner.alg.get_policy().update_normalization(Env().get_observations())
    assert_same(rsl_rl.export_policy(runner, tmp_path / "live"), runner.alg.get_policy())
    assert runner.alg.get_policy().training
    runner.save(str(tmp_path / "model.pt"))
    yaml = rsl_rl.export_checkpoint(tmp_path / "model.pt", tmp_path / "saved", config=config)
    assert_same(yaml, runner.alg.get_policy())


def test_the_users_actor_is_left_alone(tmp_path: Path) -> None:
    actor = actor_of("RNNModel", rnn_hidden_dim=8).train()
    given = {name: torch.randn(2, *size) for name, size in SIZES.items()}
    actor(tensordict.TensorDict(given, batch_size=2))  # part of a training graph
    hidden = actor.get_hidden_state()
    rsl_rl.export_policy(actor, tmp_path / "robot")
    assert actor.training
    assert actor.get_hidden_state() is hidden


class TestImages:
    GROUPS: ClassVar = {"actor": ["base", "camera", "joints"]}

    def test_have_ports_of_their_own(self, tmp_path: Path, backend: str) -> None:
        actor = actor_of("CNNModel", groups=self.GROUPS, cnn_cfg=CNN, obs_normalization=True)
        torch.save({"actor_state_dict": actor.state_dict()}, tmp_path / "model.pt")
        section = {"class_name": "CNNModel", "cnn_cfg": CNN, "obs_normalization": True}
        section |= {"activation": "elu", "distribution_cfg": GAUSSIAN}
        options: dict[str, Any] = {"config": {"actor": section}, "backend": backend}
        with pytest.raises(leapp.LeappValueError, match="camera") as raised:
            rsl_rl.export_checkpoint(tmp_path / "model.pt", tmp_path / "robot", **options)
        assert raised.value.code == "LP803"
        with pytest.raises(leapp.LeappValueError, match="strides") as raised:
            rsl_rl.export_checkpoint(
                tmp_path / "model.pt", tmp_path / "robot", activation="elu",
                images={"camera": (2, 12, 16)},
            )  # fmt: skip
        assert raised.value.code == "LP803"
        yaml = rsl_rl.export_checkpoint(
            tmp_path / "model.pt", tmp_path / "robot", images={"camera": (2, 12, 16)}, **options
        )
        assert_same(yaml, actor, self.GROUPS)


class TestOlderReleases:
    """ActorCritic stored the actor's weights and its normaliser under other names."""

    NAMES: ClassVar = {"mlp": "actor", "obs_normalizer": "actor_obs_normalizer", "rnn": "memory_a"}

    def saved(self, actor: Any, path: Path, *, beside: bool = False) -> None:
        weights, normalizer = {"std": torch.ones(3), "critic.0.weight": torch.zeros(1, 9)}, {}
        for name, value in actor.state_dict().items():
            part, _, rest = name.partition(".")
            if part == "obs_normalizer" and beside:
                normalizer[rest] = value
            elif part in self.NAMES:
                weights[f"{self.NAMES[part]}.{rest}"] = value
        found = {"model_state_dict": weights, "optimizer_state_dict": {}, "iter": 1}
        torch.save(found | ({"obs_norm_state_dict": normalizer} if beside else {}), path)

    @pytest.mark.parametrize("kind", ["MLPModel", "RNNModel"])
    @pytest.mark.parametrize("beside", [False, True])
    def test_are_read(self, kind: str, beside: bool, tmp_path: Path) -> None:
        actor = actor_of(kind, obs_normalization=True, activation="selu")
        self.saved(actor, tmp_path / "model.pt", beside=beside)
        (tmp_path / "params").mkdir()
        (tmp_path / "params" / "agent.yaml").write_text(
            "empirical_normalization: true\n"
            "policy:\n  class_name: ActorCritic\n  activation: selu\n"
            "  actor_hidden_dims: !!python/tuple [16, 8]\n"
            "  init: !!python/object/apply:os.system ['touch bomb']\n"
        )
        yaml = rsl_rl.export_checkpoint(tmp_path / "model.pt", tmp_path / "robot")
        assert_same(yaml, actor)

    def test_the_normalizer_is_missed(self, tmp_path: Path) -> None:
        self.saved(actor_of("MLPModel"), tmp_path / "model.pt")
        config = {"empirical_normalization": True, "policy": {"activation": "elu"}}
        with pytest.raises(leapp.LeappValueError, match="holds no normaliser") as raised:
            rsl_rl.export_checkpoint(tmp_path / "model.pt", tmp_path / "robot", config=config)
        assert raised.value.code == "LP804"
        assert not (tmp_path / "robot").exists()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    actor = actor_of("MLPModel", activation="relu")
    torch.save({"actor_state_dict": actor.state_dict()}, tmp_path / "model.pt")
    arguments = ["rsl_rl", str(tmp_path / "model.pt"), "-o", str(tmp_path / "robot")]
    assert command.main(arguments) == 1
    assert "--activation" in capsys.readouterr().err
    assert not (tmp_path / "robot").exists()
    assert command.main([*arguments, "--activation", "relu", "--backend", "jit"]) == 0
    assert_same(capsys.readouterr().out.strip(), actor)
    assert command.main([*arguments, "--image", "camera=3"]) == 1
    assert "NAME=CxHxW" in capsys.readouterr().err


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("bomb"),))


class TestFilesThatAreNotTheirs:
    def refused(self, path: Path, code: str, **options: Any) -> None:
        output = path.parent / "robot"
        with pytest.raises(leapp.LeappError, match=path.name) as raised:
            rsl_rl.export_checkpoint(path, output, **{"activation": "elu", **options})
        assert raised.value.code == code
        assert not output.exists()

    @pytest.mark.parametrize("content", ["weights", ""])
    def test_no_file_of_torch(self, content: str, tmp_path: Path) -> None:
        (tmp_path / "model.pt").write_text(content)
        self.refused(tmp_path / "model.pt", "LP801")

    def test_no_file(self, tmp_path: Path) -> None:
        self.refused(tmp_path / "model.pt", "LP004")

    @pytest.mark.parametrize(
        "found",
        [{"policy": {"w": torch.zeros(2)}}, torch.zeros(3), {"actor_state_dict": {}},
         {"model_state_dict": {"net.weight": torch.zeros(2)}},
         {"actor_state_dict": {"mlp.0.weight": torch.zeros(2)}}],
    )  # fmt: skip
    def test_of_another_trainer(self, found: Any, tmp_path: Path) -> None:
        torch.save(found, tmp_path / "model.pt")
        self.refused(tmp_path / "model.pt", "LP801")

    def test_of_another_architecture(self, tmp_path: Path) -> None:
        actor = actor_of("MLPModel")
        torch.save({"actor_state_dict": actor.state_dict()}, tmp_path / "model.pt")
        section = {"class_name": "MLPModel", "hidden_dims": [32, 8], "distribution_cfg": GAUSSIAN}
        self.refused(tmp_path / "model.pt", "LP802", config={"actor": section})

    def test_code_is_not_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        torch.save({"actor_state_dict": Bomb()}, tmp_path / "model.pt")
        self.refused(tmp_path / "model.pt", "LP805")
        actor = actor_of("MLPModel")
        torch.save({"actor_state_dict": actor.state_dict()}, tmp_path / "model.pt")
        config = {"actor": {"class_name": "os:system"}}
        self.refused(tmp_path / "model.pt", "LP805", config=config)
        assert not (tmp_path / "bomb").exists()

    def test_an_unknown_policy(self, tmp_path: Path) -> None:
        with pytest.raises(leapp.LeappValueError, match="Linear has no obs_groups") as raised:
            rsl_rl.export_policy(torch.nn.Linear(2, 2), tmp_path / "robot")
        assert raised.value.code == "LP803"
