"""One control step of an mjlab task, as a pass of a node."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from leapp import GraphConfigs, OutputKindEnum, TensorSemantics, annotate
from leapp.errors import LeappTypeError, LeappValueError

from . import _mjlab_meaning as meanings
from ._mjlab_buffers import buffers_as_state
from ._mjlab_reads import Reads, derived
from ._policy import having

NODE = "policy"


class Task:
    """A task and its policy, stepped like mjlab, with the pass of a node in the middle.

    Args:
        env: One environment on the CPU, or a wrapper of it.
        policy: A function from a TensorDict of observation groups to an action.
    """

    def __init__(self, env: Any, policy: Any) -> None:
        self.env = _checked(env)
        self._policy = policy
        self._clip = getattr(env, "clip_actions", None)
        # Methods of rsl_rl's models: for vectors, and for images.
        vectors = list(getattr(policy, "obs_groups", ["actor"]))
        self._groups = vectors + list(getattr(policy, "obs_groups_2d", []))
        self._reads = Reads(self.env, NODE)
        self._ports: list[TensorSemantics] = []  # of the probe: what is read in a pass, in order
        self._written: list[tuple[Any, str, Any]] = []  # by the action term: entity, setter, value

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Prepare the environment for passes while the block runs."""
        observations, env = self.env.observation_manager, self.env
        with contextlib.ExitStack() as stack:
            stack.enter_context(buffers_as_state(observations, self._groups))
            stack.enter_context(self._reads.watching())
            for entity in env.scene.entities.values():
                stack.enter_context(derived(entity, self._hearing(type(entity))))
            for group in self._groups:
                for name in observations.active_terms[group]:
                    term = observations.get_term_cfg(group, name)
                    label = f"Observation term '{group}/{name}'"
                    stack.enter_context(having(term, "func", self._named(label, term.func)))
                    stack.enter_context(having(term, "noise", None))
            # A pass computes observations and processes the action, so step() must not do it again.
            stack.enter_context(having(observations, "compute", lambda **_: {}))
            # Nothing may be reset between passes, whatever an untrained policy does.
            stack.enter_context(having(env.cfg, "auto_reset", False))
            yield

    def probe(self) -> None:
        """Run a control step without tracing, to find its inputs and unsupported reads."""
        self._start()
        with self._reads.one_pass():
            self._tick()
        self._ports = self._reads.ports
        self._start()

    def _start(self) -> None:
        """Set the environment and the policy to their state before the first tick."""
        self.env.reset()
        for motion in self._motions().values():
            motion.time_steps.zero_()  # from its start; a tick advances it before reading it
        if getattr(self._policy, "is_recurrent", False):
            self._policy.reset()

    def trace_pass(self, backend: str) -> None:
        """Run one control step without the physics, as a pass of the node."""
        with self._reads.one_pass():
            self._reads.begin(self._ports)
            annotate.register_buffer(NODE, self._states())
            targets = self._tick()
            annotate.output_tensors(
                NODE, targets, static_outputs=self._constants(), export_with=backend
            )

    def step(self) -> None:
        """Let mjlab apply the action and simulate until the next control step."""
        env = self.env
        with contextlib.ExitStack() as stack:
            # Counters are state of the node, so mjlab counts in copies.
            stack.enter_context(having(env, "episode_length_buf", env.episode_length_buf.clone()))
            for motion in self._motions().values():
                stack.enter_context(having(motion, "time_steps", motion.time_steps.clone()))
            stack.enter_context(having(env.action_manager, "process_action", lambda action: None))
            env.step(env.action_manager.action)
            env._manual_reset_pending.zero_()

    def configs(self) -> GraphConfigs:
        """Return the bundle's configs: rate, default pose, ranges of commands."""
        pose: dict[str, float] = {}
        for term in self.env.action_manager._terms.values():
            entity = term._entity
            pose |= dict(
                zip(entity.joint_names, entity.data.default_joint_pos[0].tolist(), strict=True)
            )
        ranges: dict[str, list[float]] = {}
        for name in self.env.command_manager.active_terms:
            bounds = getattr(self.env.command_manager.get_term(name).cfg, "ranges", None)
            for element in ("lin_vel_x", "lin_vel_y", "ang_vel_z"):
                if (pair := getattr(bounds, element, None)) is not None:
                    ranges[element] = [float(pair[0]), float(pair[1])]
        return GraphConfigs(
            frequency=1 / self.env.step_dt,
            default_pose=pose or None,
            command_ranges=ranges or None,
        )

    def _tick(self) -> list[TensorSemantics]:
        """Observe, compute and process the action; return the values for the actuators."""
        from tensordict import TensorDict

        for motion in self._motions().values():
            motion.time_steps += 1
            motion.time_steps.clamp_(max=motion.motion.time_step_total - 1)
        observed = {
            group: self.env.observation_manager.compute_group(group, update_history=True)
            for group in self._groups
        }
        action = self._decide(TensorDict(observed, batch_size=[1]))
        if self._clip is not None:
            action = action.clamp(-self._clip, self._clip)
        self.env.action_manager.process_action(action)
        targets = [
            target
            for name, term in self.env.action_manager._terms.items()
            for target in self._apply(name, term)
        ]
        self.env.episode_length_buf += 1
        return targets

    def _decide(self, observed: Any) -> Any:
        """Run the policy; the hidden state of a recurrent one is the node's."""
        network = getattr(self._policy, "rnn", None)
        if not getattr(self._policy, "is_recurrent", False) or network is None:
            return self._policy(observed)
        hidden = _flat(network.hidden_state) or _zeros(network.rnn)
        names = [f"actor_state_{i}" for i in range(len(hidden))]
        states = annotate.state_tensors(NODE, dict(zip(names, hidden, strict=True)))
        network.hidden_state = states
        action = self._policy(observed)
        annotate.update_state(NODE, dict(zip(names, _flat(network.hidden_state), strict=True)))
        return action

    def _apply(self, name: str, term: Any) -> list[TensorSemantics]:
        """Let an action term write its targets; return them as outputs."""
        self._written.clear()
        self._reads.seen.clear()
        self._reads.term = f"Action term '{name}' ({type(term).__name__})"
        term.apply_actions()
        if self._reads.seen and self.env.cfg.decimation > 1:
            raise LeappValueError.coded(
                "LP803",
                f"{self._reads.term} reads {', '.join(sorted(set(self._reads.seen)))} in each of "
                f"the {self.env.cfg.decimation} physics steps of a control step, but a bundle "
                "ticks once per control step. Export the task with decimation=1, or with an "
                "action that does not depend on measurements, such as JointPositionAction.",
            )
        single = len(self._written) == 1
        outputs = []
        for entity, setter, value in self._written:
            names = list(getattr(term, "target_names", ()))
            port = f"{name}_target" if single else f"{name}_{setter.removeprefix('set_')}"
            meaning = meanings.of_target(entity, setter, names)
            owner = self._name_of(entity)
            outputs.append(meaning.semantics(port, value, f"write:{owner}:{setter}"))
        return outputs

    def _constants(self) -> list[TensorSemantics]:
        """Return stiffness, damping and default pose of the joints that action terms move."""
        import torch

        constants = []
        for name, term in self.env.action_manager._terms.items():
            entity, joints = term._entity, list(getattr(term, "target_names", ()))
            if not joints or not set(joints) <= set(entity.joint_names):
                continue
            rest = dict(zip(entity.joint_names, entity.data.default_joint_pos[0], strict=True))
            values: dict[str, Any] = {
                "default": ("default/joint/position", [float(rest[j]) for j in joints])
            }
            if set(joints) <= set(gains := _gains_of(entity)):
                values["kp_gains"] = (OutputKindEnum.KP, [gains[j][0] for j in joints])
                values["kd_gains"] = (OutputKindEnum.KD, [gains[j][1] for j in joints])
            constants += [
                TensorSemantics(f"{name}_{what}", torch.tensor([row]), kind, element_names=joints)
                for what, (kind, row) in values.items()
            ]
        return constants

    def _states(self) -> dict[str, Any]:
        """Return the tensors that a pass writes in place, by their names in the bundle."""
        states = {"last_action": self.env.action_manager._action}
        for name, motion in self._motions().items():
            states[f"{name}_time_step"] = motion.time_steps
        return states

    def _motions(self) -> dict[str, Any]:
        """Return the commands that play a motion, by name."""
        from mjlab.tasks.tracking.mdp import MotionCommand

        commands = self.env.command_manager
        terms = {name: commands.get_term(name) for name in commands.active_terms}
        return {name: term for name, term in terms.items() if isinstance(term, MotionCommand)}

    def _named(self, label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function of a term, wrapped so that messages can name the term."""

        def named(*args: Any, **kwargs: Any) -> Any:
            self._reads.term = f"{label} ({getattr(function, '__name__', type(function).__name__)})"
            return function(*args, **kwargs)

        return named

    def _hearing(self, own: type) -> type:
        """Return a class of entities whose setters record their values in a pass."""

        def setter(name: str) -> Callable[..., None]:
            def heard(entity: Any, value: Any, *args: Any, **kwargs: Any) -> None:
                if self._reads.asking:
                    self._written.append((entity, name, value))
                else:
                    getattr(own, name)(entity, value, *args, **kwargs)

            return heard

        return type(own.__name__, (own,), {name: setter(name) for name in meanings.TARGETS})

    def _name_of(self, entity: Any) -> str:
        return next(str(name) for name, e in self.env.scene.entities.items() if e is entity)


def _checked(env: Any) -> Any:
    """Return the environment itself, if it can be exported."""
    from mjlab.envs import ManagerBasedRlEnv

    unwrapped = getattr(env, "unwrapped", env)
    if not isinstance(unwrapped, ManagerBasedRlEnv):
        raise LeappTypeError.of(env, "export_task() takes a ManagerBasedRlEnv or its wrapper")
    if unwrapped.num_envs != 1 or str(unwrapped.device) != "cpu":
        raise LeappValueError.coded(
            "LP803",
            "export_task() takes one environment on the CPU, but this one has "
            f"{unwrapped.num_envs} on "
            f"'{unwrapped.device}'. Make one with cfg.scene.num_envs = 1 and device='cpu'.",
        )
    return unwrapped


def _gains_of(entity: Any) -> dict[str, tuple[float, float]]:
    """Return stiffness and damping by joint, of the actuators that have them."""
    return {
        joint: (float(actuator.cfg.stiffness), float(actuator.cfg.damping))
        for actuator in entity.actuators
        for joint in actuator.target_names
        if hasattr(actuator.cfg, "stiffness") and hasattr(actuator.cfg, "damping")
    }


def _flat(hidden: Any) -> tuple[Any, ...]:
    """Return a hidden state as a tuple: empty, of one, or the two of an LSTM."""
    if hidden is None:
        return ()
    return tuple(hidden) if isinstance(hidden, tuple) else (hidden,)


def _zeros(network: Any) -> tuple[Any, ...]:
    """Return the initial hidden state of a GRU or an LSTM."""
    import torch

    shape = (network.num_layers, 1, network.hidden_size)
    return tuple(torch.zeros(shape) for _ in range(2 if network.mode == "LSTM" else 1))
