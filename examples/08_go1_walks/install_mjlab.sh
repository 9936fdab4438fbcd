#!/usr/bin/env bash
# Installs mjlab for a CPU into a separate environment, .cache/mjlab, which uses LEAPP and torch of the current
# environment. It is separate because mjlab needs a different MuJoCo than the C++ examples.
set -euo pipefail
cd "$(dirname "$0")/../.."

outer=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
python -m venv .cache/mjlab
inner=$(.cache/mjlab/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$outer" >"$inner/leapp_environment.pth"
# A constraint for each package that torch and LEAPP were built with: pip must use the installed versions.
python -m pip freeze 2>/dev/null | grep -E '^(torch|numpy|onnx|onnxruntime)==' >"$inner/constraints.txt"
.cache/mjlab/bin/python -m pip install -q --disable-pip-version-check -c "$inner/constraints.txt" mjlab==1.6.0
