"""The ``annotate`` object: markers for the stages of a running pipeline."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _state, _untraced
from .errors import LeappTypeError, expect
from .semantics import is_array

if TYPE_CHECKING:
    import torch

_F = TypeVar("_F", bound=Callable[..., Any])


class Annotate:
    """Marks the start, the end and the state of nodes.

    While no session is tracing, every call returns its argument unchanged, and an active shadow run
    reads it. Tensors always stay ordinary tensors.
    """

    def input_tensors(self, node_name: str, tensors: Any) -> Any:
        """Open a node, or add inputs to an open one.

        Args:
            node_name: The node's name.
            tensors: A dict of named tensors (may be nested), a ``TensorSemantics``, or a list of
                them. Leaves are PyTorch tensors or NumPy arrays; anything else passes through as a
                constant, with a warning.

        Returns:
            The values to compute with: a bare value for one entry, a tuple in order for more.
        """
        return _state.calls.input_tensors(node_name, tensors)

    def output_tensors(
        self,
        node_name: str,
        tensors: Any,
        static_outputs: Any = None,
        *,
        export_with: str | None = None,
        backend_params: dict[str, Any] | None = None,
        constants: Sequence[Any] | None = None,
        schedule: Mapping[str, Any] | None = None,
    ) -> Any:
        """Name the node's outputs and close it.

        Args:
            node_name: The name given to :meth:`input_tensors`.
            tensors: The outputs, in the forms :meth:`input_tensors` takes.
            static_outputs: Constants that the node also outputs, in the same forms.
            export_with: The backend: ``"jit"``, ``"onnx"``, ..; None exports no model, or uses the
                file in ``backend_params["model_path"]``.
            backend_params: Settings of that backend.
            constants: Constants of the node that you acknowledge: paths such as
                ``"env.default_pose"`` (``*`` stands for any characters), tensors or
                arrays. The inventory no longer lists them, see :func:`leapp.inventory`.
            schedule: When the node runs, if not once per tick, such as ``{"every": 5}``: its entry
                of ``leapp.start(schedule=..)``.

        Returns:
            The outputs: a bare value for one entry, a tuple in order for more.
        """
        return _state.calls.output_tensors(
            node_name, tensors, static_outputs, export_with, backend_params, constants, schedule
        )

    @overload
    def method(self, function: _F, /) -> _F: ...

    @overload
    def method(
        self,
        function: None = None,
        /,
        *,
        node_name: str | None = None,
        export_with: str | None = None,
        backend_params: dict[str, Any] | None = None,
        constants: Sequence[Any] | None = None,
        schedule: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> Callable[[_F], _F]: ...

    def method(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        node_name: str | None = None,
        export_with: str | None = None,
        backend_params: dict[str, Any] | None = None,
        constants: Sequence[Any] | None = None,
        schedule: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> Any:
        """Decorate a function or method so that each call is one pass of a node.

        Inputs take the parameters' names (``arg_0``, .. for ``*args``, the key for ``**kwargs``);
        outputs take the names of the returned variables if the source shows them, otherwise
        ``output1``, ``output2``, .. Tensors that are default values are constants of the node.

        Args:
            function: The function, if the decorator is used without parentheses.
            node_name: The node's name; the function's by default.
            export_with: As in :meth:`output_tensors`.
            backend_params: As in :meth:`output_tensors`.
            constants: As in :meth:`output_tensors`.
            schedule: As in :meth:`output_tensors`.
            unknown: Keywords of other versions. They have no effect, and a traced call logs a
                warning.
        """

        def decorate(target: Any) -> Any:
            if isinstance(target, (staticmethod, classmethod)):
                return type(target)(decorate(target.__func__))
            return _decorate(
                target, node_name, export_with, backend_params, constants, schedule, sorted(unknown)
            )

        return decorate if function is None else decorate(function)

    def state_tensors(self, node_name: str, tensors: Any) -> Any:
        """Declare recurrent state of a node that is open.

        Args:
            node_name: The node's name.
            tensors: A flat dict from state names to their values at the start of this pass; those
                of the first pass are the exported initial values.

        Returns:
            The states to compute with: a bare value for one entry, a tuple in order for more.
        """
        return _state.calls.declare("state_tensors", node_name, tensors)

    def update_state(self, node_name: str, tensors: Any) -> Any:
        """Set the values of declared states for the next pass.

        Args:
            node_name: The node's name.
            tensors: A flat dict from declared state names to new values of the same shape and type.

        Returns:
            The given values: a bare value for one entry, a tuple in order for more.
        """
        return _state.calls.declare("update_state", node_name, tensors)

    def module(
        self, node_name: str, model: torch.nn.Module, buffer_names: list[str] | None = None
    ) -> None:
        """Track a module's registered buffers in a node that is open.

        Buffers that the pass changes, by reassignment or in place, become state; the others are
        constants. The module itself is not changed. Dots in buffer names become underscores.

        Args:
            node_name: The node's name.
            model: The module; call this before its forward pass.
            buffer_names: The buffers to track; all of them by default.
        """
        if isinstance(model, type) or not callable(getattr(model, "named_buffers", None)):
            raise LeappTypeError.of(
                model, f"module() for node '{node_name}' expects a torch.nn.Module"
            )
        _state.calls.module(node_name, model, buffer_names)

    def register_buffer(self, node_name: str, tensors: Any) -> Any:
        """Declare persistent tensors that the node writes in place.

        Args:
            node_name: The node's name.
            tensors: A tensor, a list of tensors (named ``buffer_0``, ``buffer_1``, ..) or a dict of
                named tensors.

        Returns:
            The tensors to compute with: a bare value for one entry, a tuple in order for more.
        """
        if is_array(tensors):
            tensors = {"buffer_0": tensors}
        elif isinstance(tensors, (list, tuple)) and all(map(is_array, tensors)):
            tensors = {f"buffer_{i}": tensor for i, tensor in enumerate(tensors)}
        return _state.calls.declare("register_buffer", node_name, tensors)

    def mirror_leapp_tags(self, source: Any, target: Any) -> Any:
        """Declare that ``target`` holds the same data as ``source``, after an unseen copy.

        Args:
            source: The tensor that is traced, or lists and dicts of them.
            target: The tensor that was copied to, or containers of the same form; the values must
                be equal.

        Returns:
            ``target``.
        """
        _state.calls.mirror_leapp_tags(source, target)
        return target

    def abandon(self, node_name: str) -> None:
        """Drop the current pass of a node, as if its :meth:`input_tensors` had not been called.

        Call it if something between inputs and outputs failed. Does nothing if the node is not
        open. Without this call, the line that opened the node starts a new pass when it runs again,
        with a warning, and :func:`leapp.stop` fails while the node is in its first pass.
        """
        _state.calls.abandon(node_name)


def _decorate(function: Any, node_name: str | None, *options: Any) -> Any:
    """Return the function with tracing around it.

    Other faults are reported during tracing, so that the program's modules can be imported.
    """
    expect(Callable, function, "annotate.method() decorates functions")
    name = node_name if node_name is not None else function.__name__
    stage: Any = None

    @functools.wraps(function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        nonlocal stage
        if _state.calls is _untraced:
            return function(*args, **kwargs)
        if stage is None:
            from ._method import Stage

            stage = Stage(function, name, *options)
        return stage(*args, **kwargs)

    return traced


#: The object that users import.
annotate = Annotate()
