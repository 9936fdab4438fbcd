"""Metadata that cannot be imported: an error that names the key, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import refused
from foreign_policies import (
    Policy,
    mjlab_metadata,
)
from onnx import helper

import leapp


def changed(**other: str | None) -> dict[str, str]:
    return {key: value for key, value in {**mjlab_metadata(), **other}.items() if value is not None}


class TestBadMetadata:
    @pytest.mark.parametrize(
        ("metadata", "code", "said"),
        [
            ({}, "LP821", "no metadata"),
            ({"author": "me"}, "LP821", "its keys are: author"),
            (changed(default_joint_pos=None), "LP822", "'default_joint_pos' is missing"),
            (changed(action_scale=None), "LP822", "'action_scale' is missing"),
            (changed(default_joint_pos="0.1,nan,0.3"), "LP823", "'nan'"),
            (changed(joint_stiffness="1,inf,3"), "LP823", "'inf'"),
            (changed(joint_damping="1.0,2.0"), "LP823", "has 2 values, expected 3"),
            (changed(joint_names="hip,hip,calf"), "LP823", "'hip' twice"),
            (changed(joint_names="hip,,calf"), "LP823", "an empty value"),
            (changed(joint_names=",".join(["a"] * 5000)), "LP823", "5000 values"),
            (changed(action_scale="0.000,0.1,0.1"), "LP823", "three decimals"),
            (changed(observation_terms_scale="0.000,1,1,1,1"), "LP823", "three decimals"),
            (changed(observation_terms_clip="1;-1,0;1,0;1,0;1,0;1"), "LP823", "lower end"),
            (changed(observation_terms_clip="1,2,3,4,5"), "LP823", "two numbers"),
            (changed(observation_terms_history_length="-1,0,0,0,0"), "LP823", "history"),
            (changed(observation_terms_history_length="1e9,0,0,0,0"), "LP823", "history"),
            (changed(observation_terms_history_length="0.5,0,0,0,0"), "LP823", "history"),
            (changed(observation_names="a,b,c,d,e"), "LP822", "'observation_sizes'"),
            (changed(observation_terms_history_length="0,9,0,0,0"), "LP824", "has 24"),
            (changed(observation_names="base_ang_vel,base_ang_vel"), "LP823", "twice"),
        ],
    )
    def test_is_refused_and_nothing_written(
        self, tmp_path: Path, metadata: dict[str, str], code: str, said: str
    ) -> None:
        Policy(24, 3).write(tmp_path / "policy.onnx", metadata)
        with pytest.raises(leapp.LeappValueError) as caught:
            leapp.import_onnx(tmp_path / "policy.onnx", tmp_path / "go")
        assert (caught.value.code, said in str(caught.value)) == (code, True), caught.value
        assert not (tmp_path / "go").exists()

    def test_a_failed_import_leaves_the_previous_one(self, tmp_path: Path) -> None:
        good = Policy(24, 3).write(tmp_path / "good.onnx", mjlab_metadata())
        yaml_file = leapp.import_onnx(good, tmp_path / "go").yaml
        before = yaml_file.read_bytes()
        bad = Policy(24, 3).write(tmp_path / "bad.onnx", {})
        with pytest.raises(leapp.LeappValueError):
            leapp.import_onnx(bad, tmp_path / "go")
        assert yaml_file.read_bytes() == before

    def test_unused_settings(self, tmp_path: Path) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata())
        with refused("LP003"):
            leapp.import_onnx(file, tmp_path / "go", settings={"joint_name": "a"})
        with pytest.raises(leapp.LeappTypeError):
            leapp.import_onnx(file, tmp_path / "go", settings={"frequency": 50})  # type: ignore[dict-item]

    def test_an_old_opset(self, tmp_path: Path) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata(), opset=12)
        with refused("LP824"):
            leapp.import_onnx(file, tmp_path / "go")

    def test_any_value_gives_an_error_or_a_bundle(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(6)
        pieces = [
            "",
            ",",
            ";",
            "[",
            "]",
            "nan",
            "-inf",
            "1e400",
            "0.000",
            "-1",
            "\x1b",
            "\n",
            "9" * 40,
        ]
        model = onnx.load(Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata()))
        codes = set()
        for _ in range(150):
            metadata = mjlab_metadata()
            for key in rng.choice(list(metadata), 2):
                text = metadata[key]
                at = int(rng.integers(len(text) + 1))
                cut = int(rng.integers(len(text) + 1 - at))
                metadata[str(key)] = text[:at] + str(rng.choice(pieces)) + text[at + cut :]
            helper.set_model_props(model, metadata)
            onnx.save(model, tmp_path / "policy.onnx")
            try:
                leapp.import_onnx(tmp_path / "policy.onnx", tmp_path / "go")
            except leapp.LeappValueError as error:
                codes.add(error.code)
        assert codes >= {"LP823"}
        assert codes <= {"LP821", "LP822", "LP823", "LP824", "B5", "B10"}, codes
