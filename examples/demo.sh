#!/usr/bin/env bash
# Goes from PyTorch code to a robot's control loop. Run by `make demo`, which sets up PATH and LEAPP_BUILD.
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

step "4. a Go1 that walks: mjlab's task as a bundle, in MuJoCo"
if [ -x "$build/examples/08_go1_walks" ] && robot=$(examples/08_go1_walks/fetch_robot.sh); then
  "$build/examples/08_go1_walks" "$robot"
else
  echo "left out: MuJoCo or the robot's file, from mjlab's wheel, could not be had"
fi

step "The drawing is $folder/walker/walker.png"
