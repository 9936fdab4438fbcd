#!/usr/bin/env bash
# From PyTorch code to a robot's control loop, in one go. Run by `make demo`, which sets up PATH and LEAPP_BUILD.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${LEAPP_BUILD:?run this with 'make demo'}
folder=build/demo
step() { printf '\n\033[1m%s\033[0m\n' "$*"; }

step "1. trace, export, check and draw a policy pipeline; run it from Python"
python examples/06_robot_loop.py "$folder"
ls "$folder/walker"

step "2. check the bundle and show what is in it"
leapp check "$folder/walker/walker.yaml"
leapp inspect "$folder/walker/walker.yaml"

step "3. run it from C++, without libtorch"
"$build/examples/06_robot_loop" "$folder/walker/walker.yaml"

step "The drawing is $folder/walker/walker.png"
