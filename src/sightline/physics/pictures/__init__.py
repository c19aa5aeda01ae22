"""How close a video is to the true one, as pictures: PSNR, SSIM, LPIPS, and FVD between sets.

* `psnr_ssim`, `lpips`: two (T, H, W, 3) uint8 videos to one figure, the mean over their frames.
* `fvd`: two sets of videos to one figure; `frechet`: the statistics it rests on, added video by video.
* `lpips_network`, `i3d`: the networks. `weights` finds their files, `pickles` reads them safely.
* `values`: what a metric says when it cannot be computed here. Nothing is approximated instead.

Import from the modules. The networks need torch, which is imported at first use.
"""
