#!/bin/sh
# Meters indoors from Hypersim: encoder of a student, new head, sigmoid × 20 m, SiLog (metric_depth/).
# 60 K pictures, 120 epochs, batch 32: about 225 K steps; the rate falls with a power of 0.9.
set -eu
. "$(dirname "$0")/folders.sh"
SIZE=${SIZE:-vits}
$TORCHRUN train metric --network "$SIZE" --start "$WORK/student-$SIZE/model.safetensors" \
  --data "shards:$WORK/shards/hypersim@32" --max-depth 20 --focal 0 --steps 225000 --short-side 518 \
  --encoder-rate 5e-6 --rate 5e-5 --weight-decay 0.01 --decay 1 --power 0.9 --variance-focus 0.5 \
  --validate "$CHECK" --validate-every 5000 --save-every 500 --out "$WORK/metric-$SIZE"
