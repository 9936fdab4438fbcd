"""The ``leapp`` command: its output and its exit status."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from ready_bundle import Bundle
from safetensors.numpy import load_file, save_file


def find_command() -> str | None:
    """Return the path of the command in this environment, or in the build tree."""
    places = [str(Path(sys.executable).parent)]
    if "LEAPP_BUILD" in os.environ:
        places.append(os.path.join(os.environ["LEAPP_BUILD"], "bin"))
    return shutil.which("leapp", path=os.pathsep.join(places))


COMMAND = find_command()
pytestmark = pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")


def leapp(
    *arguments: object, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in this environment and check its exit status."""
    assert COMMAND is not None
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "VIRTUAL_ENV": sys.prefix, **environment},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def asked(*arguments: object, **options: Any) -> Any:
    return json.loads(leapp(*arguments, "--json", **options).stdout)


@pytest.fixture
def policy(tmp_path: Path) -> str:
    """f = 2 x + 1;  y = f + h, h' = y / 2."""
    bundle = Bundle(tmp_path)
    bundle.node("pre", "affine.onnx", ["x"], ["y"])
    bundle.node("policy", "recurrent.onnx", ["x", "h_in"], ["y", "h_out"])
    bundle.wire("pre/y", "policy/x").feedback("policy/h_out", "policy/h_in")
    bundle.pipeline["configs"] = {"frequency": 50}
    return bundle.input("pre", "x").output("policy", "y").write()


class TestInspect:
    def test_text(self, policy: str) -> None:
        text = leapp("inspect", policy).stdout
        assert "2 nodes" in text
        assert "pre/x  float32 [1, 4]" in text
        assert "policy/h_out -> policy/h_in" in text

    def test_json(self, policy: str) -> None:
        found = asked("inspect", policy)
        assert [node["name"] for node in found["nodes"]] == ["pre", "policy"]
        assert found["inputs"] == ["pre/x"]
        assert found["data_flow"] == {"pre/y": ["policy/x"]}
        assert found["configs"] == {"frequency": 50}
        assert found["nodes"][1]["sha256sum"]
        assert found["nodes"][1]["opset_version"] == 20
        assert found["system_information"]["config_version"] == found["config_version"]

    def test_json_has_semantics_of_ports(self, tmp_path: Path) -> None:
        bundle = Bundle(tmp_path).node("n", "affine.onnx", ["x"], ["y"])
        yaml = bundle.input("n", "x").output("n", "y")
        port = bundle.models["n"]["inputs"][0]
        port |= {"kind": "state/joint/position", "element_names": [None, list("abcd")], "unit": "m"}
        assert asked("inspect", yaml.write())["nodes"][0]["inputs"][0] == {
            "name": "x",
            "dtype": "float32",
            "shape": [1, 4],
            "kind": "state/joint/position",
            "element_names": [None, list("abcd")],
            "extra": {"unit": "m"},
        }


class TestCheck:
    def test_sound_bundle(self, policy: str) -> None:
        lines = leapp("check", policy).stdout.splitlines()
        assert all(line.startswith("ok") for line in lines)
        assert lines[-1] == "ok    tick: runs on mock input"
        assert asked("check", policy)["ok"] is True

    def test_changed_file(self, policy: str) -> None:
        (Path(policy).parent / "policy.onnx").write_bytes(b"other")
        done = leapp("check", policy, code=1)
        assert "SHA256 checksum mismatch" in done.stderr
        report = asked("check", policy, code=1)
        assert report["ok"] is False
        assert "SHA256 checksum mismatch" in report["error"]
        assert report["code"] == "B21"

    def test_node_without_model(self, policy: str) -> None:
        settings = yaml.safe_load(Path(policy).read_text())
        settings["models"]["pre"]["parameters"] = dict.fromkeys(
            ["model_path", "md5sum", "sha256sum", "backend"]
        )
        Path(policy).write_text(yaml.safe_dump(settings, sort_keys=False))
        done = leapp("check", policy, code=1)
        assert "model: " not in done.stdout
        assert "node 'pre' was exported without a model" in done.stderr

    def test_files_only_needs_no_engine(self, policy: str) -> None:
        leapp("check", policy, "--files-only", LEAPP_ONNXRUNTIME="/nowhere")

    def test_machine_without_onnxruntime(self, policy: str) -> None:
        done = leapp("check", policy, code=3, LEAPP_ONNXRUNTIME="/nowhere")
        assert "ONNX Runtime was not found" in done.stderr
        report = asked("check", policy, code=3, LEAPP_ONNXRUNTIME="/nowhere")
        assert report["code"] == "LP612"

    def test_provider_that_is_not_there(self, policy: str) -> None:
        leapp("check", policy, "--provider", "tpu", code=3)


class TestRun:
    def test_inputs_and_outputs_are_files(self, policy: str, tmp_path: Path) -> None:
        save_file({"pre/x": np.array([[0, 1, 2, 3]], np.float32)}, tmp_path / "in.safetensors")
        files = ["--input", tmp_path / "in.safetensors", "--output", tmp_path / "out.safetensors"]
        shown = asked("run", policy, "--ticks", 2, *files)
        assert shown["policy/y"]["values"] == [1.5, 4.5, 7.5, 10.5]
        kept = load_file(tmp_path / "out.safetensors")
        assert kept["policy/y"].tolist() == [[1.5, 4.5, 7.5, 10.5]]

    def test_missing_inputs_are_named(self, tmp_path: Path) -> None:
        bundle = Bundle(tmp_path).node("n", "clamp_sum.onnx", ["a", "b"], ["y"])
        yaml = bundle.input("n", "a", "b").output("n", "y").write()
        save_file({"n/a": np.zeros((1, 4), np.float32)}, tmp_path / "in.safetensors")
        done = leapp("run", yaml, "--input", tmp_path / "in.safetensors", code=1)
        assert "lacks a value for: n/b; add them, or use --mock" in done.stderr
        leapp("run", yaml, "--input", tmp_path / "in.safetensors", "--mock")

    def test_mock_input_repeats(self, policy: str) -> None:
        assert leapp("run", policy).stdout == leapp("run", policy).stdout
        assert leapp("run", policy).stdout != leapp("run", policy, "--seed", 1).stdout

    def test_wrong_input(self, policy: str, tmp_path: Path) -> None:
        save_file({"pre/z": np.zeros(3, np.float32)}, tmp_path / "in.safetensors")
        done = leapp("run", policy, "--input", tmp_path / "in.safetensors", code=1)
        assert "[LP601]" in done.stderr


class TestBench:
    def test_text(self, policy: str) -> None:
        text = leapp("bench", policy, "--ticks", 200).stdout
        assert "200 ticks" in text
        assert "50 Hz leaves 20.0 ms a tick" in text

    def test_json(self, policy: str) -> None:
        report = asked("bench", policy, "--ticks", 200, "--no-merge")
        assert report["ticks"] == 200
        assert list(report["nodes"]) == ["pre", "policy"]
        assert report["tick"]["p50_us"] <= report["tick"]["p999_us"] <= report["tick"]["max_us"]
        assert report["period_us"] == 20000

    def test_picture(self, policy: str, tmp_path: Path) -> None:
        picture = tmp_path / "bench.svg"
        leapp("bench", policy, "--ticks", 200, "--svg", picture)
        xml.dom.minidom.parse(str(picture))
        assert "p99.9" in picture.read_text()

    def test_too_slow(self, policy: str) -> None:
        leapp("bench", policy, "--ticks", 50, "--hz", "1e9", "--strict", code=4)
        leapp("bench", policy, "--ticks", 50, "--hz", "1e9")

    def test_percentiles_are_not_understated(self, policy: str) -> None:
        tick = asked("bench", policy, "--ticks", 100)["tick"]
        assert tick["p999_us"] == tick["max_us"]

    @pytest.mark.parametrize("frequency", [".nan", "-5", "0", "fast", "1.0e+300", "[1]"])
    def test_strange_frequency(self, policy: str, frequency: str) -> None:
        text = Path(policy).read_text()
        Path(policy).write_text(text.replace("frequency: 50", f"frequency: {frequency}"))
        assert "states no frequency" in leapp("bench", policy, "--ticks", 20).stdout
        strict = leapp("bench", policy, "--ticks", 20, "--strict", code=2)
        assert "options: --strict has no period to compare with" in strict.stderr
        leapp("bench", policy, "--ticks", 20, "--warm-up", -1, code=2)

    @pytest.mark.parametrize("hz", ["0", "nan", "-1", "inf", "1e10", "fast"])
    def test_hz_is_a_frequency(self, policy: str, hz: str) -> None:
        done = leapp("bench", policy, "--ticks", 20, f"--hz={hz}", code=2)
        assert f"must be a frequency from 1e-9 to 1e9, not {hz}" in done.stderr


class TestMerge:
    def test_one_file(self, policy: str, tmp_path: Path) -> None:
        report = asked("merge", policy, tmp_path / "one")
        assert report["inputs"] == ["pre.x", "policy.h_in"]
        assert report["outputs"] == ["policy.y", "policy.h_out"]
        import onnx

        onnx.checker.check_model(onnx.load(report["model"]), full_check=True)
        save_file({"pre/x": np.ones((1, 4), np.float32)}, tmp_path / "a.safetensors")
        save_file({"one/pre.x": np.ones((1, 4), np.float32)}, tmp_path / "b.safetensors")
        ticks = ["--ticks", 5, "--input"]
        one = asked("run", report["bundle"], *ticks, tmp_path / "b.safetensors")
        two = asked("run", policy, *ticks, tmp_path / "a.safetensors")
        assert one["one/policy.y"] == two["policy/y"]

    def test_bundle_of_one_node(self, policy: str, tmp_path: Path) -> None:
        report = asked("merge", policy, tmp_path / "one")
        again = asked("merge", report["bundle"], tmp_path / "two")
        assert again["inputs"] == ["one.pre.x", "one.policy.h_in"]
        assert asked("check", again["bundle"])["ok"] is True

    def test_own_directory(self, policy: str) -> None:
        before = Path(policy).read_text()
        done = leapp("merge", policy, Path(policy).parent, code=1)
        assert "it would be overwritten. Choose a different directory" in done.stderr
        assert Path(policy).read_text() == before

    def test_large_model(self, tmp_path: Path) -> None:
        from onnx import TensorProto, helper, numpy_helper, save

        ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
        weights = numpy_helper.from_array(np.zeros((9 << 20,), np.float32), "w")
        nodes = [
            helper.make_node("ReduceMax", ["w"], ["m"], keepdims=0),
            helper.make_node("Add", ["x", "m"], ["y"]),
        ]
        graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [weights])
        opsets = [helper.make_opsetid("", 20)]
        save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "big.onnx")
        bundle = Bundle(tmp_path).node("big", tmp_path / "big.onnx", ["x"], ["y"])
        done = leapp("merge", bundle.input("big", "x").output("big", "y").write(), "one", code=1)
        assert "with 'big' the models have 377" in done.stderr
        assert "only up to 33554432 (32 MiB) are merged" in done.stderr

    def test_help_lists_options_with_an_effect(self) -> None:
        assert "--no-merge" not in leapp("merge", "--help").stdout


class TestUsage:
    def test_help_has_examples_and_exit_codes(self) -> None:
        for command in ("inspect", "check", "run", "bench", "merge"):
            text = leapp(command, "--help").stdout
            assert f"Example: leapp {command} " in text
            assert "Exit codes: 0 success;" in text

    def test_version(self) -> None:
        assert leapp("--version").stdout.startswith("leapp 0.")

    @pytest.mark.parametrize("arguments", [[], ["fly"], ["run"], ["run", "x", "--ticks", "-1"]])
    def test_wrong_usage(self, arguments: list[str]) -> None:
        leapp(*arguments, code=2)

    @pytest.mark.parametrize("option", ["--input", "--output"])
    def test_a_file_without_a_name(self, policy: str, option: str) -> None:
        done = leapp("run", policy, option, "", code=2)
        assert f"{option}: a file name is empty" in done.stderr

    def test_unknown_command(self) -> None:
        assert "unknown command 'fly'; the commands are: inspect" in leapp("fly", code=2).stderr
        assert "unknown option '--fly'" in leapp("--fly", code=2).stderr

    @pytest.mark.parametrize("command", ["run", "bench"])
    def test_no_ticks(self, command: str) -> None:
        done = leapp(command, "x.yaml", "--ticks", 0, code=2)
        assert "--ticks: Value 0 not in range" in done.stderr

    def test_large_tensors(self, policy: str) -> None:
        done = leapp("run", policy, "--max-tensor-bytes", 16, code=1)
        assert "--max-tensor-bytes of the command" in done.stderr
        text = Path(policy).read_text().replace("- 4\n", "- 1099511627776\n")
        Path(policy).write_text(text)
        assert "[1, 1099511627776]" in leapp("inspect", policy).stdout

    def test_missing_bundle(self) -> None:
        assert "not found" in leapp("inspect", "/nowhere/x.yaml", code=1).stderr

    def test_programs_for_python_only(self, policy: str) -> None:
        Path(policy).write_text(Path(policy).read_text().replace("backend: onnx", "backend: pt2"))
        done = leapp("run", policy, code=1)
        assert "programs of torch.export run in Python only" in done.stderr

    def test_output_that_cannot_be_written(self, policy: str) -> None:
        assert COMMAND is not None
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([COMMAND, "inspect", policy], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert b"standard output could not be written" in done.stderr

    @pytest.mark.parametrize("command", ["inspect", "check", "run", "bench"])
    def test_failure_as_json(self, command: str) -> None:
        report = asked(command, "/nowhere/x.yaml", code=1)
        assert report["ok"] is False
        assert "not found" in report["error"]
        assert report["code"] == "LP004"
        assert report["exit_code"] == 1

    @pytest.mark.parametrize(
        "options",
        [["--threads", "-1"], ["--affinity", "0"], ["--threads", "2", "--affinity", "9999"]],
    )
    def test_wrong_options_are_wrong_usage(self, policy: str, options: list[str]) -> None:
        assert "options: " in leapp("run", policy, *options, code=2).stderr

    def test_strict_without_a_period_is_wrong_usage(self, policy: str) -> None:
        settings = yaml.safe_load(Path(policy).read_text())
        del settings["pipeline"]["configs"]
        Path(policy).write_text(yaml.safe_dump(settings, sort_keys=False))
        assert "give one with --hz" in leapp("bench", policy, "--strict", code=2).stderr
