"""Exports the trained Go1 from mjlab, and lets mjlab itself walk a little for comparison.

    .cache/mjlab/bin/python examples/08_go1_walks/export.py [directory]

in the environment that install_mjlab.sh makes. Writes the bundle ``folder/go1/go1.yaml`` and
``folder/mjlab.csv``, how the walk of walk.cpp begins in mjlab's simulation with mjlab's policy.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from leapp.integrations import mjlab

HERE = Path(__file__).resolve().parent
TASK = "Mjlab-Velocity-Flat-Unitree-Go1"
TICKS = 100  # of the comparison: 2 s
#: As in walk.cpp: forward and left in m/s, turning in rad/s; another one every 200 ticks.
ASKED = [(0.8, 0, 0), (1.2, 0, 0), (0.6, 0, 0.6), (0, 0.4, 0), (-0.5, 0, 0)]


def checkpoint(folder: Path) -> Path:
    """Write the weights as the trainer does."""
    path = folder / "model.pt"
    weights = load_file(HERE / "actor.safetensors")
    torch.save({"actor_state_dict": weights, "iter": 1075, "infos": None}, path)
    return path


def environment() -> Any:
    """Return the task in its play configuration, without randomness."""
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.tasks.registry import load_env_cfg

    config = load_env_cfg(TASK, play=True)
    config.scene.num_envs = 1
    config.terminations = {}
    for name in ("encoder_bias", "base_com", *(n for n in config.events if "friction" in n)):
        config.events.pop(name, None)
    config.events["reset_base"].params["pose_range"] = {}
    env = ManagerBasedRlEnv(config, device="cpu")
    twist = env.command_manager.get_term("twist")

    def ask(dt: Any, env_ids: Any = None) -> None:
        twist.vel_command_b[:] = torch.tensor(ASKED[env.common_step_counter // 200])

    twist.compute = ask
    return env


def walk(env: Any, policy: Any) -> list[list[float]]:
    """Let mjlab walk; return one row per tick, in the form of walk.cpp."""
    rows = []
    observed, _ = env.reset()
    sensors = env.scene.sensors
    for tick in range(TICKS):
        speed, turn = sensors["robot/imu_lin_vel"].data[0], sensors["robot/imu_ang_vel"].data[0]
        measured = [float(speed[0]), float(speed[1]), float(turn[2])]
        rows.append([tick / 50, *ASKED[tick // 200], *measured, *env.sim.data.qpos[0].tolist()])
        with torch.no_grad():
            observed = env.step(policy(observed))[0]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/demo"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        trained = checkpoint(Path(temporary))
        print(mjlab.export_checkpoint(TASK, trained, folder / "go1"))
        env = environment()
        rows = walk(env, mjlab.load_policy(TASK, env, trained))
    lines = [",".join(f"{value:.6g}" for value in row) for row in rows]
    (folder / "mjlab.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
