"""Values that a task reads from its environment, as inputs of a node."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from leapp import TensorSemantics, annotate
from leapp.errors import LeappValueError

from . import _mjlab_meaning as meanings


class Reads:
    """Turns values that observation and action terms read into inputs, once per pass.

    While :meth:`watching`, the data of entities, sensors and commands have derived classes in which
    reading an attribute first asks this object. A value that is computed from others, such as
    gravity in the robot's frame from its orientation, is one input: the value that the term reads.
    Used from one thread.
    """

    def __init__(self, env: Any, node: str) -> None:
        self.env = env
        self._node = node
        self._values: dict[str, Any] | None = None  # of inputs, by connection; None between passes
        self._inside = False  # of a read, whose own reads are its business
        #: Which term is being computed, for messages.
        self.term = ""
        #: The inputs that were read since this was last cleared, by connection.
        self.seen: list[str] = []
        #: The inputs of the last pass, in the order of their first read.
        self.ports: list[TensorSemantics] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the environment while the block runs."""
        from mjlab.tasks.tracking.mdp import MotionCommand

        with contextlib.ExitStack() as stack:
            for name, entity in self.env.scene.entities.items():
                watch = _Watch(self, f"state:{name}", name)
                stack.enter_context(derived(entity.data, self.reading(entity.data, watch.entity)))
            for name, sensor in self.env.scene.sensors.items():
                watch = _Watch(self, f"sensor:{name}", name.rpartition("/")[2])
                stack.enter_context(derived(sensor, self.reading(sensor, watch.sensor)))
            for name in self.env.command_manager.active_terms:
                term = self.env.command_manager.get_term(name)
                # A motion is part of the bundle: reads of it use the motion's own tables.
                if not isinstance(term, MotionCommand):
                    watch = _Watch(self, f"command:{name}", name)
                    stack.enter_context(derived(term, self.reading(term, watch.command)))
            data = self.env.sim.data
            stack.enter_context(derived(data, self.reading(data, self._refuse)))
            yield

    @contextlib.contextmanager
    def one_pass(self) -> Iterator[None]:
        """Turn values that the block reads into inputs."""
        self._values, self.ports = {}, []
        try:
            yield
        finally:
            self._values = None

    def plainly(self, read: Callable[[], Any]) -> Any:
        """Run a read that must not create inputs."""
        inside, self._inside = self._inside, True
        try:
            return read()
        finally:
            self._inside = inside

    @property
    def asking(self) -> bool:
        """Return whether a value that is read now becomes an input."""
        return self._values is not None and not self._inside

    def input(
        self, connection: str, name: str, value: Callable[[], Any], meaning: Callable[[], Any]
    ) -> Any:
        """Return the input for a tensor that is read; other values are unchanged."""
        import torch

        assert self._values is not None
        if connection not in self._values:
            found = self.plainly(value)
            if not isinstance(found, torch.Tensor) or found.shape[:1] != (1,):
                return found
            # A copy, because the simulation writes its memory without PyTorch.
            port = self.plainly(meaning).semantics(name, found.clone(), connection)
            self._values[connection] = annotate.input_tensors(self._node, port)
            self.ports.append(port)
        self.seen.append(connection)
        return self._values[connection]

    def begin(self, ports: list[TensorSemantics]) -> None:
        """Create all inputs that an earlier pass read, because a node begins with one call.

        They have their current values.
        """
        connections = [port.extra["mjlab_connection"] for port in ports if port.extra]

        def make() -> Any:
            pairs = zip(ports, (value_of(self.env, each) for each in connections), strict=True)
            now = [dataclasses.replace(port, ref=value.clone()) for port, value in pairs]
            return annotate.input_tensors(self._node, now)

        values = self.plainly(make)
        self._values = dict(zip(connections, values if len(ports) > 1 else [values], strict=True))

    def reading(self, thing: Any, watch: Callable[[Any, str, Callable[[], Any]], Any]) -> type:
        """Return a class derived from the object's own one that asks `watch` for public attributes.

        It does so if a value that is read becomes an input.
        """
        own: Any = type(thing)
        reads = self

        class Watched(own):  # type: ignore[misc]
            def __getattribute__(self, name: str) -> Any:
                def read() -> Any:
                    try:
                        return own.__getattribute__(self, name)
                    except AttributeError:
                        if (fallback := getattr(own, "__getattr__", None)) is None:
                            raise
                        return fallback(self, name)

                plain = name.startswith("_") or not reads.asking
                return read() if plain else watch(self, name, read)

        Watched.__name__, Watched.__qualname__ = own.__name__, own.__qualname__
        Watched.__module__ = own.__module__
        return Watched

    def _refuse(self, data: Any, name: str, read: Callable[[], Any]) -> Any:
        """Refuse values that a robot does not have: the memory of the simulation itself."""
        if not callable(self.plainly(read)):
            raise LeappValueError.coded(
                "LP803",
                f"{self.term} reads '{name}' from the simulation (env.sim.data), which a robot "
                "does not have. Read it from an entity's data (env.scene['robot'].data), a "
                "sensor or a "
                "command, so that it becomes an input with a name.",
            )
        return read()


class _Watch:
    """Reads of an attribute of one entity, sensor or command."""

    def __init__(self, reads: Reads, connection: str, name: str) -> None:
        self._reads = reads
        self._connection = connection
        self._name = name

    def entity(self, data: Any, name: str, read: Callable[[], Any]) -> Any:
        """Properties are measured; all others, such as the default pose, are constants."""
        if name == "encoder_bias":
            # The bias of the simulated encoders. A robot measures and moves in terms of its own
            # encoders.
            return read() * 0
        if not isinstance(getattr(type(data), name, None), property):
            return read()
        entity = self._reads.env.scene.entities[self._connection.partition(":")[2]]
        return self._input(name, read, lambda: meanings.of_entity(entity, name))

    def sensor(self, sensor: Any, name: str, read: Callable[[], Any]) -> Any:
        """The data of a sensor is a tensor, or a data class with several tensors."""
        if name != "data":
            return read()
        env, own = self._reads.env, self._connection.partition(":")[2]
        value = self._reads.input(
            self._connection, self._name, read, lambda: meanings.of_sensor(env, own)
        )
        if dataclasses.is_dataclass(value):
            return _copied(value, self._reads.reading(value, self._field))
        return value

    def command(self, term: Any, name: str, read: Callable[[], Any]) -> Any:
        """Tensors of a command with one row per environment are the commanded values."""
        return self._input(name, read, lambda: meanings.of_command(term, name))

    def _field(self, data: Any, name: str, read: Callable[[], Any]) -> Any:
        return self._input(name, read, lambda: meanings.of_field(name))

    def _input(self, name: str, read: Callable[[], Any], meaning: Callable[[], Any]) -> Any:
        # "twist", not "twist_command".
        port = self._name if name == "command" else f"{self._name}_{name}"
        return self._reads.input(f"{self._connection}:{name}", port, read, meaning)


def value_of(env: Any, connection: str) -> Any:
    """Return the value in mjlab for an input with that ``mjlab_connection``."""
    kind, _, rest = connection.partition(":")
    owner, _, name = rest.partition(":")
    if kind == "state":
        return getattr(env.scene.entities[owner].data, name)
    if kind == "sensor":
        data = env.scene.sensors[owner].data
        return getattr(data, name) if name else data
    return getattr(env.command_manager.get_term(owner), name)


@contextlib.contextmanager
def derived(thing: Any, to: type) -> Iterator[None]:
    """Give an object a derived class while the block runs."""
    own = type(thing)
    # Bypasses the object's own way of setting attributes.
    object.__setattr__(thing, "__class__", to)
    try:
        yield
    finally:
        object.__setattr__(thing, "__class__", own)


def _copied(value: Any, to: type) -> Any:
    """Return a shallow copy of the object with the derived class."""
    copy: Any = object.__new__(to)
    copy.__dict__.update(value.__dict__)
    return copy
