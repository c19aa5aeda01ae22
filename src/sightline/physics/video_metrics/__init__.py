"""Picture and video metrics against the true video: PSNR, SSIM, LPIPS and FVD.

frame_metrics   PSNR and SSIM; `picture_metrics` by name; `NotAvailable` for metrics that cannot be
computed
lpips, fvd      learned metrics, with the networks in `networks`
weights         finds the downloaded weights and reads them safely

The networks need torch, which is imported on first use.
"""
