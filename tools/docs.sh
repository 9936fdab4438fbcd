#!/usr/bin/env bash
# Writes the reference of both languages: docs.sh <folder> makes <folder>/cpp and <folder>/python.
set -euo pipefail

folder=${1:?usage: docs.sh <folder>}
python=.venv/bin/python
mkdir -p "$folder"
doxygen - < <(cat tools/Doxyfile; echo "OUTPUT_DIRECTORY = $folder")
# What is loaded when it is first asked for, asked for here; leapp._runtime has what InferenceManager inherits.
"$python" -c "import leapp; leapp.InferenceManager, leapp.onnx.Op; from pdoc.__main__ import cli; cli()" \
  --docformat google --output-directory "$folder/python" leapp leapp._runtime
echo "C++: $folder/cpp/index.html"
echo "Python: $folder/python/index.html"
