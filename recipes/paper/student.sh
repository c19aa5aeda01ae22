#!/bin/sh
# Student: from DINOv2 again, pseudo-labels only, batch 192, 480 K steps (§7.1); the worst tenth of each
# map ignored and features held to the frozen encoder's (§5.2). SIZE is vits, vitb or vitl.
set -eu
. "$(dirname "$0")/folders.sh"
SIZE=${SIZE:-vits}
LETTER=$(printf %s "$SIZE" | tail -c 1)
$TORCHRUN train student --network "$SIZE" --start "$DINO/dinov2_vit${LETTER}14_pretrain.pth" \
  --photos "$PHOTOS" --labels "$WORK/labels" --share 192 --steps 480000 --short-side 518 \
  --encoder-rate 5e-6 --rate 5e-5 --weight-decay 0 --decay 1 --gradient-weight 2 --anchor-weight 0 --trim 0.1 \
  --feature-weight 1 --cutmix 0.5 --validate "$CHECK" --validate-every 5000 --save-every 500 \
  --out "$WORK/student-$SIZE"
