#!/bin/sh
# Teacher: DINOv2-g, synthetic only, batch 64, 160 K steps, Adam 5e-6 / 5e-5, 518 px (§7.1).
# Shares of the batch follow the sizes of the sets: 60, 20, 306, 115, 103 thousand.
set -eu
. "$(dirname "$0")/folders.sh"
$TORCHRUN train teacher --network vitg --start "$DINO/dinov2_vitg14_pretrain.pth" \
  --data "shards:$WORK/shards/hypersim@6" --data "shards:$WORK/shards/vkitti2@2" \
  --data "shards:$WORK/shards/tartanair@33" --data "shards:$WORK/shards/blendedmvs@12" \
  --data "shards:$WORK/shards/irs@11" \
  --steps 160000 --short-side 518 --encoder-rate 5e-6 --rate 5e-5 --weight-decay 0 --decay 1 \
  --gradient-weight 2 --anchor-weight 0 --validate "$CHECK" --validate-every 2000 --save-every 500 --out "$WORK/teacher"
