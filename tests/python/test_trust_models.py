"""Model files from strangers: what loading one may do."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Workbench, refused
from ready_bundle import Bundle

from leapp import InferenceManager, LeappError, annotate


class Double(torch.nn.Module):
    """A module that only computes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def rewritten(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """Write a zip archive with other records."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return target.getvalue()


def one_node(folder: Path, suffix: str, data: bytes) -> str:
    file = folder / f"n{suffix}"
    file.write_bytes(data)
    return Bundle(folder).node("n", file, ["x"], ["y"]).input("n", "x").output("n", "y").write()


def refusal(path: str, **options: Any) -> str:
    with pytest.raises(LeappError) as refused:
        InferenceManager(path, **options)
    return str(refused.value)


def torchscript(folder: Path, body: str, parameters: str = "") -> str:
    """Write a bundle whose model has this source."""
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Double()), buffer)

    def change(name: str, data: bytes) -> bytes:
        if not name.endswith(".py"):
            return data
        text = data.decode()
        head, _, rest = text.partition("    x: Tensor) -> Tensor:\n")
        assert rest
        return (f"{head}    x: Tensor{parameters}) -> Tensor:\n{body}").encode()

    return one_node(folder, ".pt", rewritten(buffer.getvalue(), change))


class TestTorchScript:
    """Files of TorchScript, which are programs."""

    @pytest.mark.parametrize(
        "call",
        [
            'torch.from_file("{file}", True, 4)',
            'getattr(torch, "from_file")("{file}", True, 4)',
            'getattr(torch, "from_" "file")("{file}", True, 4)',
            'ops.aten.from_file("{file}", True, 4)',
        ],
    )
    def test_that_write_files_are_refused(self, tmp_path: Path, call: str) -> None:
        file = tmp_path / "written"
        path = torchscript(tmp_path, f"    y = {call.format(file=file)}\n    return x\n")
        message = refusal(path)
        assert "its code calls 'from_file'" in message
        assert 'trust="code"' in message
        assert "--trust-code" in message
        assert message.endswith("[LP625]")
        assert not file.exists()
        manager = InferenceManager(path, trust="code", translate=False)
        assert manager({"n/x": torch.ones(1, 4)})["n/y"][0, 0] == 1

    def test_code_that_runs_while_loading_is_seen(self, tmp_path: Path) -> None:
        file = tmp_path / "written"
        path = torchscript(
            tmp_path, "    return x\n", f', y: Tensor=torch.from_file("{file}", True, 4)'
        )
        assert "LP625" in refusal(path)
        assert not file.exists()

    @pytest.mark.parametrize(
        "line",
        [
            'print("\\x1b[2J")',
            'ops.aten.warn("hello")',
            "y = ops.c10d.barrier(x)",
            "y = fork(x)",
            "t = ops",
            'y = getattr(torch, "\\x66rom_file")',
            "y = x.set_(x)",
        ],
    )
    def test_that_do_more_than_compute_are_refused(self, tmp_path: Path, line: str) -> None:
        assert "LP625" in refusal(torchscript(tmp_path, f"    {line}\n    return x\n"))

    def test_names_of_variables_are_free(self, bench: Workbench) -> None:
        with bench.trace():
            inputs = {"save": torch.ones(4), "print": torch.ones(4), "seed": torch.ones(4)}
            tensors = annotate.input_tensors("n", inputs)
            annotate.output_tensors("n", {"warn": sum(tensors)}, export_with="jit")
        bench.compile()
        manager = bench.manager()
        assert manager(manager.get_mock_input())

    @pytest.mark.parametrize(
        "expression", ["(" * 20000 + "x" + ")" * 20000, "x" + " + x" * 20000, "- " * 20000 + "x"]
    )
    def test_deep_nesting_is_an_error(self, tmp_path: Path, expression: str) -> None:
        path = torchscript(tmp_path, f"    return {expression}\n")
        assert "could not be loaded as TorchScript: its code is nested too deeply" in refusal(path)

    def test_an_empty_record_is_an_error(self, tmp_path: Path) -> None:
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(Double()), buffer)
        for emptied in ("data.pkl", "constants.pkl", ".py"):
            data = rewritten(
                buffer.getvalue(), lambda name, data, e=emptied: b"" if name.endswith(e) else data
            )
            assert "could not be loaded as TorchScript" in refusal(one_node(tmp_path, ".pt", data))

    @pytest.mark.parametrize("change", ["empty", "cut", "deep", "sizes"])
    def test_tensors_beyond_their_memory_are_errors(self, tmp_path: Path, change: str) -> None:
        model = torch.jit.script(torch.nn.Linear(4, 4))
        buffer = io.BytesIO()
        torch.jit.save(model, buffer)

        def damaged(name: str, data: bytes) -> bytes:
            if name.endswith("data/0"):
                return {"empty": b"", "cut": data[:-4]}.get(change, data)
            if name.endswith("data.pkl") and change == "sizes":  # 4 x 4 elements become 4 x 127
                return data.replace(b"(K\x04K\x04t", b"(K\x04K\x7ft")
            if name.endswith("constants.pkl") and change == "deep":
                return b"\x80\x02)" + b"\x85" * 300_000 + b"."
            return data

        path = one_node(tmp_path, ".pt", rewritten(buffer.getvalue(), damaged))
        assert "could not be loaded as TorchScript: " in refusal(path)
        assert refusal(path).endswith("[LP617]")


def test_trust_is_code_or_nothing(tmp_path: Path) -> None:
    path = torchscript(tmp_path, "    return x\n")
    with refused("LP003", "'code'", "'all'"):
        InferenceManager(path, trust="all")  # type: ignore[arg-type]
