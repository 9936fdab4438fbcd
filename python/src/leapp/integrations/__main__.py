"""The command ``leapp-export``, also ``python -m leapp.integrations``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from leapp import integrations
from leapp.errors import LeappError


def names() -> list[str]:
    """Return the names of the integrations, without importing any of them."""
    found = (module.name for module in pkgutil.iter_modules(integrations.__path__))
    return sorted(name for name in found if not name.startswith("_"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Return its exit status: 1 for an error of LEAPP, 2 for wrong usage."""
    given = sys.argv[1:] if argv is None else list(argv)
    outer = argparse.ArgumentParser(
        prog="leapp-export",
        description="Convert a trainer's checkpoint to a bundle.",
        epilog="'leapp-export TRAINER --help' lists the arguments of a trainer.",
    )
    outer.add_argument("trainer", choices=names())
    trainer = outer.parse_args(given[:1]).trainer
    module = importlib.import_module(f"leapp.integrations.{trainer}")
    parser = argparse.ArgumentParser(
        prog=f"leapp-export {trainer}", description=(module.__doc__ or "").partition("\n")[0]
    )
    module.add_arguments(parser)
    _add_common_arguments(parser)
    arguments = parser.parse_args(given[1:])
    try:
        print(module.run(arguments))
    except LeappError as error:
        print(f"leapp-export: {error}", file=sys.stderr)
        return 1
    return 0


def _add_common_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        dest="path",
        required=True,
        metavar="FOLDER",
        help="the directory of the bundle",
    )
    parser.add_argument(
        "--backend", default="onnx", choices=("onnx", "jit"), help="the format of the models"
    )
    parser.add_argument("--verbose", action="store_true", help="show the whole log")


if __name__ == "__main__":
    sys.exit(main())
