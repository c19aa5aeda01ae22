#!/bin/sh
# Pseudo-labels of all photographs, on a Ray cluster (§5.1). The paper does not flip; neither do we here.
set -eu
. "$(dirname "$0")/folders.sh"
$SIGHTLINE label "$PHOTOS" --recursive --model "$WORK/teacher/model.safetensors" --no-mirror --size 518 \
  --engine torch --device cuda --cluster --out "$WORK/labels"
