"""Trains the controller: some minutes on one core.

python -m pip install stable-baselines3==2.9.2
python examples/07_mujoco_balance/train.py
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
import torch
from balance import FRAME, HERE, HISTORY, MAX_TORQUE, Controller, Simulation
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize


class Balance(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """The simulation in the form that trainers expect: frames that also contain the last action."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (FRAME,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))

    def __init__(self, seed: int) -> None:
        self.simulation = Simulation(seed)

    def frame(self, action: NDArray[np.float32]) -> NDArray[np.float32]:
        s = self.simulation.sensors()
        return np.concatenate([s.gyro, s.gravity, s.wheels, s.command, action])

    def reset(self, **_: object) -> tuple[NDArray[np.float32], dict[str, Any]]:
        self.simulation.reset()
        return self.frame(np.zeros(2, np.float32)), {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        reward, over = self.simulation.step(MAX_TORQUE * action)
        fallen = self.simulation.fallen()
        return self.frame(action), reward, fallen, over and not fallen, {}


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the controller and write controller.pt.")
    parser.add_argument("--steps", type=int, default=1_500_000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    worlds = DummyVecEnv([lambda seed=seed: Balance(1000 + seed) for seed in range(16)])
    normalised = VecNormalize(worlds, gamma=0.995, clip_obs=5)
    trainer = PPO(
        "MlpPolicy",
        VecFrameStack(normalised, HISTORY),
        n_steps=512,
        batch_size=1024,
        n_epochs=5,
        learning_rate=lambda left: 1e-3 * left,
        gamma=0.995,
        policy_kwargs={
            "net_arch": [64, 64],
            "activation_fn": torch.nn.ELU,
            "log_std_init": -0.5,
        },
        seed=1,
        verbose=1,
    )
    trainer.learn(arguments.steps)

    controller = Controller()
    statistics = normalised.obs_rms
    controller.mean.copy_(torch.from_numpy(statistics.mean))
    controller.deviation.copy_(torch.from_numpy(np.sqrt(statistics.var + normalised.epsilon)))
    layers = [*trainer.policy.mlp_extractor.policy_net, trainer.policy.action_net]
    controller.policy.load_state_dict(torch.nn.Sequential(*layers).state_dict())
    torch.save(controller.state_dict(), HERE / "controller.pt")


if __name__ == "__main__":
    main()
