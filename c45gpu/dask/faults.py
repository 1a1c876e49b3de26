"""Workers that are lost, and how others notice."""

from __future__ import annotations


class Lost(Exception):
    """A step did not come to its end, since a worker died, restarted or did not answer in time.

    Parameters
    ----------
    message : str
    """
