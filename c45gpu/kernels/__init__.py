"""Engines: they own the cases and see no tree. What crosses the seam is in :mod:`.level`, the protocol in :mod:`.engine`."""
