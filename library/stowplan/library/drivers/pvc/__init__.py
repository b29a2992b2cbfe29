"""A claim of any storage, such as NFS or another CSI driver: filled from S3, and not cached on nodes."""

from stowplan.library.drivers.pvc.driver import ClaimDriver

__all__ = ["ClaimDriver"]
