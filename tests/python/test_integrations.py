"""Code that the integrations share: the command, and the export of a policy as a function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import refused

import leapp
from leapp.integrations import __main__ as command
from leapp.integrations import _checkpoint, _policy

LIBRARIES = {"mjlab", "rsl_rl", "sb3_contrib", "skrl", "stable_baselines3", "tensordict", "torchrl"}


class TestCommand:
    def test_asks_for_a_trainer_that_there_is(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stopped:
            command.main(["keras"])
        assert stopped.value.code == 2
        assert "invalid choice: 'keras'" in capsys.readouterr().err

    def test_lists_the_trainers_without_importing_them(self) -> None:
        code = (
            "import sys; from leapp.integrations import __main__ as command\n"
            "try: command.main(['--help'])\n"
            "except SystemExit: pass\n"
            "print(sorted(sys.modules))"
        )
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr
        text, modules = shown.stdout.rsplit("[", 1)
        assert all(name in text for name in command.names())
        assert not {"torch", *LIBRARIES} & set(eval("[" + modules))

    @pytest.mark.parametrize("name", command.names())
    def test_each_trainer_shows_its_arguments(
        self, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit) as stopped:
            command.main([name, "--help"])
        assert stopped.value.code == 0
        assert "--output" in capsys.readouterr().out


class TestPolicy:
    @staticmethod
    def integrator() -> _policy.Policy:
        """A module that sums its inputs."""

        def step(inputs: _policy.Tensors, states: _policy.Tensors) -> tuple[_policy.Tensors, ...]:
            total = states["total"] + inputs["x"]
            return {"y": 2 * total}, {"total": total}

        return _policy.Policy(step, lambda: {"x": torch.randn(1, 3)}, {"total": torch.ones(1, 3)})

    def test_states_start_as_declared_and_are_reset(self, tmp_path: Path, backend: str) -> None:
        yaml = _policy.export(self.integrator(), tmp_path / "sum", backend=backend, frequency=50)
        assert yaml == str(tmp_path / "sum" / "sum.yaml")
        robot = leapp.InferenceManager(yaml)
        x = torch.randn(1, 3)
        for _ in range(2):
            for tick in range(1, 4):
                torch.testing.assert_close(
                    robot.run_policy({"policy/x": x})["policy/y"], 2 * (1 + tick * x)
                )
            robot.reset()

    def test_a_step_that_fails_leaves_nothing(self, tmp_path: Path) -> None:
        def step(inputs: _policy.Tensors, states: _policy.Tensors) -> tuple[_policy.Tensors, ...]:
            raise ZeroDivisionError

        policy = _policy.Policy(step, lambda: {"x": torch.randn(1, 3)})
        with pytest.raises(ZeroDivisionError):
            _policy.export(policy, tmp_path / "sum")
        assert not leapp.ExportManager().is_interpret_graph_enabled()
        assert not (tmp_path / "sum").exists()


class TestFiles:
    @pytest.mark.parametrize(
        ("place", "code"),
        [("make", "LP003"), ("none.py:make", "LP004"), ("make.py:none", "LP003")],
    )
    def test_functions_that_are_not_there(
        self, place: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "make.py").write_text("def make():\n    return 7\n")
        with pytest.raises(leapp.LeappError) as raised:
            _checkpoint.from_file(place)
        assert raised.value.code == code
        assert _checkpoint.from_file("make.py:make")() == 7

    def test_trust_is_code_or_nothing(self) -> None:
        with refused("LP003", "'yes'"):
            _checkpoint.check_trust("yes")

    @pytest.mark.parametrize("text", ["[1, 2", "- 1", "\tx: 1"])
    def test_a_configuration_that_is_none(self, text: str, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        (tmp_path / "agent.yaml").write_text(text)
        with refused("LP801", "agent.yaml"):
            _checkpoint.read_yaml(tmp_path / "agent.yaml")

    def test_a_library_that_is_not_installed(self) -> None:
        with refused("LP006"):
            _checkpoint.library("leapp_nobody", "nobody")
