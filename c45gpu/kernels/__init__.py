"""Engines: they own the cases and see no tree. :mod:`.level` is what crosses the seam, :mod:`.engine` the protocol."""
