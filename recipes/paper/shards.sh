#!/bin/sh
# Pack the synthetic sets into shards of 518 px (Table 7: 595 K pictures).
set -eu
. "$(dirname "$0")/folders.sh"
for NAME in hypersim vkitti2 tartanair blendedmvs irs; do
  $SIGHTLINE train shards --data "$NAME:$SETS/$NAME" --out "$WORK/shards/$NAME" --short-side 518 --workers 16
done
