#!/usr/bin/env bash
# Writes the reference of both languages: docs.sh <folder> makes <folder>/cpp and <folder>/python.
set -euo pipefail

folder=${1:?usage: docs.sh <folder>}
python=.venv/bin/python
mkdir -p "$folder"
doxygen - < <(cat tools/Doxyfile; echo "OUTPUT_DIRECTORY = $folder")
"$python" -m pdoc --docformat google --output-directory "$folder/python" leapp
echo "C++: $folder/cpp/index.html"
echo "Python: $folder/python/index.html"
