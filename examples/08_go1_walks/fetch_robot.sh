#!/usr/bin/env bash
# Prints the path of go1.xml: that of an installed mjlab, or else of mjlab's wheel, which is downloaded once
# without its dependencies.
set -euo pipefail
cd "$(dirname "$0")/../.."

robot=mjlab/asset_zoo/robots/unitree_go1/xmls/go1.xml
for folder in .cache/mjlab/lib/python3*/site-packages .cache/go1; do
  if [ -f "$folder/$robot" ]; then
    echo "$PWD/$folder/$robot"
    exit
  fi
done
python -m pip download -q --disable-pip-version-check --no-deps -d .cache/go1 mjlab==1.6.0 >&2
python -m zipfile -e .cache/go1/mjlab-1.6.0-py3-none-any.whl .cache/go1
rm .cache/go1/mjlab-1.6.0-py3-none-any.whl
echo "$PWD/.cache/go1/$robot"
