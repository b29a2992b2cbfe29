"""JuiceFS, community edition, through its CSI driver."""

from stowplan.library.drivers.juicefs.driver import JuiceFSDriver

DRIVER = JuiceFSDriver()
