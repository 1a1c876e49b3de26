"""The same tree on a Dask cluster: growing works by attributes, pruning by rows.

Glossary: a *part* is consecutive rows with all columns, as they were brought to the cluster; a *share* is some
attributes with all rows, on one worker; a *step* is something that several workers are asked to do at once; a *run* is
one tree, and an *epoch* of it the time from one loss of a worker to the next.
"""

from __future__ import annotations
