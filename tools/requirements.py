"""Print tools/requirements.txt with the pybind11 that the installed torch was built with.

LEAPP's tracing module and torch's own Python binding share objects, so both must be built with the
same pybind11. The file names that of the torch version that LEAPP is developed with.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path


def main() -> None:
    """Write the requirements to standard output."""
    text = (Path(__file__).parent / "requirements.txt").read_text(encoding="utf-8")
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.submodule_search_locations is not None
    header = Path(spec.submodule_search_locations[0]) / "include/pybind11/detail/common.h"
    numbers = re.findall(
        r"define PYBIND11_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", header.read_text(encoding="utf-8")
    )
    print(re.sub(r"^pybind11==.*$", f"pybind11=={'.'.join(numbers)}", text, flags=re.MULTILINE))


if __name__ == "__main__":
    main()
