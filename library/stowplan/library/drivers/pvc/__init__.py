"""A claim of any storage, such as NFS or another CSI driver: filled from S3, and not cached on nodes."""

from stowplan.library.drivers.api import StorageDriver
from stowplan.library.drivers.pvc.driver import ClaimDriver

DRIVER: StorageDriver = ClaimDriver()
