"""Exploy: an imported policy whose model contains the whole computation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import yaml
from foreign_policies import (
    TICKS,
    port,
    run,
    write_exploy,
)

import leapp


def test_exploy_needs_nothing_computed(tmp_path: Path) -> None:
    metadata = {
        "exploy_version": "0.1.0",
        "update_rate": 10.0,
        "obj.dog.joints": {"joint_names": ["hip", "knee"]},
        "output.joint_targets.legs": {
            "names": ["hip", "knee"],
            "stiffness": [1.0, 2.0],
            "damping": [0.1, 0.2],
        },
    }
    file = write_exploy(
        tmp_path / "policy.onnx", {key: json.dumps(value) for key, value in metadata.items()}
    )
    imported = leapp.import_onnx(file, tmp_path / "dog")
    assert imported.format == "exploy"
    assert yaml.safe_load(imported.yaml.read_text())["pipeline"]["configs"] == {"frequency": 10}
    angular = port(imported.yaml, "policy", "obj.dog.base.ang_vel_b_rt_w_in_b")
    assert (angular["kind"], angular["frame"]) == ("state/body/angular_velocity", "base")
    robot = run(imported.yaml)
    rng = np.random.default_rng(5)
    memory = np.zeros(2)
    for step in range(TICKS):
        q, v = rng.standard_normal((2, 1, 2)).astype(np.float32)
        w = rng.standard_normal((1, 3)).astype(np.float32)
        outputs = robot.run_policy(
            {
                "policy/obj.dog.joints.pos": q,
                "policy/obj.dog.joints.vel": v,
                "policy/obj.dog.base.ang_vel_b_rt_w_in_b": w,
            }
        )
        np.testing.assert_allclose(
            outputs["act/joint_pos_target"][0], q[0] + memory + 0.01 * step, atol=1e-5
        )
        memory = 0.5 * memory + w[0, :2]
    np.testing.assert_allclose(outputs["act/kp"], [[1, 2]])
    np.testing.assert_allclose(outputs["act/kd"], [[0.1, 0.2]], rtol=1e-6)
