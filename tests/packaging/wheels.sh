#!/usr/bin/env bash
# Tests the wheels in an empty root without apt packages: wheels.sh <python> <directory of wheels>
#
# <python> downloads the dependencies, because the root has no network. README's example exports
# with leapp; leapp-runtime alone runs the bundle.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packaging/root.sh
. tests/packaging/root.sh

python=${1:?usage: wheels.sh <python> <directory of wheels>}
wheels=${2:?usage: wheels.sh <python> <directory of wheels>}
root=build/roots/wheels
bare_root "$root"
mkdir -p .cache/wheelhouse
"$python" -m pip download -q --disable-pip-version-check -d .cache/wheelhouse -r tools/requirements-torch.txt \
  -r <(grep -E '^(numpy|onnxruntime)==' tools/requirements.txt)
cp .cache/wheelhouse/*.whl "$wheels"/*.whl "$root/given/"
"$python" -c 'import re, sys; print("\n".join(re.findall(r"```python\n(.*?)```", open("README.md").read(), re.S)[:1]))' \
  >"$root/given/export.py"
"$python" -c 'import re, sys; print("\n".join(re.findall(r"```python\n(.*?)```", open("README.md").read(), re.S)[1:]))' \
  >"$root/given/run.py"

say() { printf '== %s\n' "$*"; }
install='-m pip install -q --no-index --find-links /given'
say "leapp: README's example"
in_root "$root" "python3 -m venv /env && /env/bin/python $install 'leapp[onnx]'
  cd /root && /env/bin/python /given/export.py && ls walker && /env/bin/python /given/run.py
  /env/bin/leapp check walker/walker.yaml"
say "leapp-runtime alone runs it"
in_root "$root" "python3 -m venv /robot && /robot/bin/python $install leapp-runtime
  cd /root && if /robot/bin/python /given/run.py 2>error; then exit 1; fi
  grep -q 'pip install onnxruntime' error || { cat error; exit 1; }
  /robot/bin/python $install 'leapp-runtime[onnx]' && /robot/bin/python /given/run.py && /robot/bin/leapp check walker/walker.yaml"
say "leapp-runtime alone says what tracing needs"
in_root "$root" "cd /root && /robot/bin/python -c 'import sys; sys.modules[\"torch\"] = type(sys)(\"torch\"); sys.modules[\"torch\"].__version__ = \"2\"
import leapp; leapp.start(\"g\")' 2>&1 | grep -q 'LP971'"
say "what a robot needs, in bytes"
in_root "$root" "cd /robot/lib/python3*/site-packages && du -bsc leapp onnxruntime/capi/libonnxruntime.so* | sort -n"
rm -rf "$root"
