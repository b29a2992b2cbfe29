"""Storage driver for a claim of any storage, such as NFS: filled from S3, and not cached on cluster nodes."""

from stowplan.library.drivers.pvc.driver import ClaimDriver

DRIVER = ClaimDriver()
