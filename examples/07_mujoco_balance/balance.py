"""A robot on two wheels, its trained controller, and their export.

    python examples/07_mujoco_balance/balance.py [directory]

writes the bundle `folder/balancer/balancer.yaml` and runs the controller in PyTorch against MuJoCo;
balance.cpp does the same with the bundle and without libtorch. README.md describes the training.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from pathlib import Path

import mujoco
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import leapp
from leapp import GraphConfigs, annotate

HERE = Path(__file__).resolve().parent
FREQUENCY = 500
EPISODE = 6 * FREQUENCY  # ticks, unless it falls
COMMAND_EVERY = 2 * FREQUENCY
FALLEN = -0.6  # gravity along the mast
MAX_TORQUE = 1.5
HISTORY, FRAME = 4, 12


class Random:
    """splitmix64: small enough to be the same in C++."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def uniform(self, low: float, high: float) -> float:
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return low + (high - low) * ((z ^ (z >> 31)) >> 11) * 2.0**-53


@dataclasses.dataclass
class Sensors:
    """Measurements and commands of the robot: float32, as the controller expects."""

    gyro: NDArray[np.float32]
    gravity: NDArray[np.float32]
    wheels: NDArray[np.float32]
    command: NDArray[np.float32]


class Simulation:
    """The robot in MuJoCo, with the same arithmetic as in balance.cpp."""

    def __init__(self, seed: int = 0) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(HERE / "robot.xml"))
        self.data = mujoco.MjData(self.model)
        self.random = Random(seed)
        self.reset()

    def reset(self) -> None:
        """Start an episode: tilted a little, rolling a little."""
        mujoco.mj_resetData(self.model, self.data)
        tilt = self.random.uniform(-0.15, 0.15)
        self.data.qpos[3] = math.cos(tilt / 2)
        self.data.qpos[5] = math.sin(tilt / 2)
        self.data.qvel[4] = self.random.uniform(-0.5, 0.5)
        self.ticks = 0
        self.ask()
        mujoco.mj_forward(self.model, self.data)

    def ask(self) -> None:
        self.forward = self.random.uniform(-0.6, 0.6)
        self.turn = self.random.uniform(-1.0, 1.0)

    def gravity(self) -> NDArray[np.float64]:
        """The direction of gravity in the chassis frame."""
        gravity: NDArray[np.float64] = -self.data.xmat[1][6:9]
        return gravity

    def sensors(self) -> Sensors:
        measured = self.data.sensordata.astype(np.float32)
        return Sensors(
            gyro=measured[0:3],
            gravity=self.gravity().astype(np.float32),
            wheels=measured[3:5],
            command=np.array([self.forward, self.turn], np.float32),
        )

    def step(self, torque: NDArray[np.float32]) -> tuple[float, bool]:
        """Simulate two milliseconds. Return the reward, and whether the episode is over."""
        self.data.ctrl[:] = torque
        mujoco.mj_step(self.model, self.data)
        speed = self.data.sensordata[5] - self.forward
        turning = self.data.sensordata[2] - self.turn
        effort = float(torque[0]) ** 2 + float(torque[1]) ** 2
        reward = 0.6 * math.exp(-8 * speed**2) + 0.4 * math.exp(-4 * turning**2) - 0.02 * effort
        self.ticks += 1
        if self.ticks % COMMAND_EVERY == 0:
            self.ask()
        return reward, self.fallen() or self.ticks == EPISODE

    def fallen(self) -> bool:
        return bool(self.gravity()[2] > FALLEN)


class Controller(nn.Module):
    """Normaliser, a policy that looks at the last frames, and the scaling of its action."""

    mean: Tensor
    deviation: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(FRAME))
        self.register_buffer("deviation", torch.ones(FRAME))
        self.policy = nn.Sequential(
            nn.Linear(HISTORY * FRAME, 64), nn.ELU(), nn.Linear(64, 64), nn.ELU(), nn.Linear(64, 2)
        )
        self.reset()

    def reset(self) -> None:
        self.history = torch.zeros(1, HISTORY, FRAME)
        self.action = torch.zeros(1, 2)

    def forward(self, gyro: Tensor, gravity: Tensor, wheels: Tensor, command: Tensor) -> Tensor:
        """Return the torques of the two wheels."""
        measured = annotate.input_tensors(
            "observe",
            {
                "gyro": gyro,
                "gravity": gravity,
                "wheels": wheels,
                "command": command,
                "last_action": self.action,
            },
        )
        frame = ((torch.cat(measured, -1) - self.mean) / self.deviation).clamp(-5, 5)
        frame = annotate.output_tensors("observe", {"frame": frame}, export_with="onnx")

        frame = annotate.input_tensors("policy", {"frame": frame})
        history = annotate.state_tensors("policy", {"history": self.history})
        history = torch.cat([history[:, 1:], frame.unsqueeze(1)], 1)
        self.history = annotate.update_state("policy", {"history": history})
        wish = self.policy(history.flatten(1))
        wish = annotate.output_tensors("policy", {"wish": wish}, export_with="onnx")

        wish = annotate.input_tensors("drive", {"wish": wish})
        action = wish.clamp(-1, 1)
        self.action, torque = annotate.output_tensors(
            "drive", {"action": action, "torque": MAX_TORQUE * action}, export_with="onnx"
        )
        return torque


def drive(controller: Controller, sensors: Sensors) -> NDArray[np.float32]:
    values = (sensors.gyro, sensors.gravity, sensors.wheels, sensors.command)
    torque: NDArray[np.float32] = controller(*(torch.from_numpy(v[None]) for v in values))[
        0
    ].numpy()
    return torque


def trained() -> Controller:
    controller = Controller()
    controller.load_state_dict(torch.load(HERE / "controller.pt", weights_only=True))
    return controller.eval()


def export(folder: Path) -> Path:
    controller, simulation = trained(), Simulation()
    leapp.start("balancer", save_path=str(folder))
    for _ in range(5):
        simulation.step(drive(controller, simulation.sensors()))
    leapp.stop()
    leapp.compile_graph(graph_configs=GraphConfigs(frequency=FREQUENCY))
    return folder / "balancer" / "balancer.yaml"


def rollout(seed: int, episodes: int) -> list[float]:
    """Return the reward sum of each episode, in PyTorch."""
    controller, simulation = trained(), Simulation(seed)
    returns = []
    for _ in range(episodes):
        total, over = 0.0, False
        while not over:
            reward, over = simulation.step(drive(controller, simulation.sensors()))
            total += reward
        returns.append(total)
        controller.reset()
        simulation.reset()
    return returns


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description="Export the controller and run it in PyTorch.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("."))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=3)
    arguments = parser.parse_args()
    print(f"wrote {export(arguments.folder)}")
    for number, total in enumerate(rollout(arguments.seed, arguments.episodes)):
        print(f"episode {number}, PyTorch: return {total:.4f}")


if __name__ == "__main__":
    main()
