"""``python -m c45gpu`` is the command ``c45gpu``."""

from __future__ import annotations

import sys

from c45gpu.cli import main

sys.exit(main())
