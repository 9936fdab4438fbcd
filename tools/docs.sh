#!/usr/bin/env bash
# Writes the site: docs.sh <directory> writes <directory>/index.html with every page of docs/, and the references of
# both languages to <directory>/cpp and <directory>/python.
set -euo pipefail

folder=${1:?usage: docs.sh <folder>}
python=.venv/bin/python
site=.cache/docs
if [ ! -e "$site/.stamp" ] || [ tools/requirements-docs.txt -nt "$site/.stamp" ]; then
  "$python" -m venv "$site"
  "$site/bin/python" -m pip install -q --disable-pip-version-check -r tools/requirements-docs.txt
  touch "$site/.stamp"
fi
NO_MKDOCS_2_WARNING=1 "$site/bin/python" -m mkdocs build --quiet --strict --site-dir "$folder"
doxygen - < <(cat tools/Doxyfile; echo "OUTPUT_DIRECTORY = $folder")
# Loads the lazily imported modules here; leapp._runtime has the base class of InferenceManager.
"$python" -c "import leapp; leapp.InferenceManager, leapp.onnx.Op; from pdoc.__main__ import cli; cli()" \
  --docformat google --output-directory "$folder/python" leapp leapp._runtime
echo "$folder/index.html"
