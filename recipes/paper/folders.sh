# Where things are; sourced by the other scripts.
SETS=${SETS:-sets}            # hypersim, vkitti2, tartanair, blendedmvs, irs as published
WORK=${WORK:-work}            # everything the recipe makes
PHOTOS=${PHOTOS:-photos}      # real photographs, any subfolders
CHECK=${CHECK:-rgbd}          # validation pictures with measured depth
DINO=${DINO:-dino}            # dinov2_vit{s,b,l,g}14_pretrain.pth
GPUS=${GPUS:-8}
SIGHTLINE=${SIGHTLINE:-sightline}
TORCHRUN=${TORCHRUN:-torchrun --nproc-per-node $GPUS -m -- sightline}
