"""``leapp completion``: scripts that complete the command line, in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from test_inference_cli import COMMAND, leapp

pytestmark = pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")


def completed(*words: str) -> set[str]:
    """Return bash's suggestions for the last word."""
    script = leapp("completion", "bash").stdout + (
        f"COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _leapp\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_bash_completes_commands() -> None:
    assert completed("leapp", "b") == {"bench", "bind", "build"}
    assert {"view", "diff", "completion", "--help"} <= completed("leapp", "")


def test_bash_completes_the_options_of_a_command() -> None:
    assert completed("leapp", "view", "--r") == {"--recording", "--robot"}
    assert completed("leapp", "bench", "--pe") == {"--perfetto"}
    assert "--perfetto" not in completed("leapp", "view", "--")


def test_bash_completes_files_and_choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "walker.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert completed("leapp", "view", "walk") == {"walker.yaml"}
    assert completed("leapp", "completion", "") == {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_knows_every_command_and_option(shell: str, tmp_path: Path) -> None:
    script = leapp("completion", shell).stdout
    for word in ("view", "diff", "bench", "completion", "perfetto", "no-open", "max-tensor-bytes"):
        assert word in script
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed, so its script was not parsed")
    (tmp_path / "script").write_text(script)
    subprocess.run([program, "-n", tmp_path / "script"], check=True)


def test_other_shells_are_refused() -> None:
    assert "bash" in leapp("completion", "tcsh", code=2).stderr
