#!/bin/sh
# PhyWorld (arXiv 2411.02385) at its own sizes: the autoencoder of Stable Diffusion 1.5, inflated over time
# and trained (App. B), then every study: DiT-S to XL, 128 px, 100 K steps of 256 videos; combinatorial
# worlds at 256 px, 1000 K steps. VAE is the vae folder of the pipeline.
set -eu
. "$(dirname "$0")/folders.sh"
VAE=${VAE:-stable-diffusion-v1-5/vae}
$SIGHTLINE video codec --kind inflated --start "$VAE" --size 128 --batch 40 --rate 1e-5 --noise 0 --steps 100000 \
  --data uniform --data collision --data parabola --data probe:conflict-color-square \
  --data probe:conflict-color-ring --save-every 1000 --validate-every 1000 --out "$WORK/video-codec"
for STUDY in scaling velocity-gap collision-gap memorization conflicts conditions combinatorial; do
  $TORCHRUN video study "$STUDY" --budget paper --codec "$WORK/video-codec" --out "$WORK/video-$STUDY"
done
