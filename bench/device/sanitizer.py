"""compute-sanitizer over whole trees of small tables.

    compute-sanitizer --tool memcheck python -m bench.device.sanitizer TABLE ...

Run so, this grows the trees on the card and compares their digests. Memory comes from the driver, not from CuPy's
pool: an index beyond an array would stay within the pool, and be missed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any, Final

from bench.device.tables import TABLES, digests_of, kept

TOOLS: Final = ("memcheck", "racecheck")
WATCHED: Final = ("tiny whole", "tiny unknown", "tiny weights", "tiny many classes", "unknown and weights")
FOUND: Final = 9  # exit status of the tool when it found something
PLACES: Final = ("/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/local/cuda/compute-sanitizer")
ROOT: Final = Path(__file__).resolve().parent.parent.parent


def binary() -> str | None:
    """Where compute-sanitizer is, None if nowhere."""
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=":".join(PLACES))


def run(tool: str) -> dict[str, Any]:
    """What a tool says of the small tables.

    Raises
    ------
    RuntimeError
        When it finds something, or does not get through.
    """
    program = binary()
    assert program is not None
    command = [program, "--tool", tool, "--error-exitcode", str(FOUND), sys.executable, "-m", "bench.device.sanitizer"]
    done = subprocess.run([*command, *WATCHED], cwd=ROOT, capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    if done.returncode:
        raise RuntimeError(f"{tool} ended with {done.returncode}: " + " | ".join(said[:10] + said[-3:]))
    return {"tables": list(WATCHED), "said": said[-1:]}


def main(names: list[str]) -> None:
    """Grow the trees of some tables; the exit status is 1 if one is not as it should be."""
    import cupy

    from c45gpu.kernels.cuda import CudaEngine
    from c45gpu.kernels.cuda_device import Sizes

    cupy.cuda.set_allocator(None)
    known = kept()
    wrong = []
    for name, sizes in product(names, (Sizes(), Sizes(finish_cases=0))):  # small nodes by blocks, and level by level
        found = digests_of(name, TABLES[name].make(), CudaEngine(sizes=sizes))
        if any(found[tree] != known[name][tree] for tree in found):
            wrong.append(name)
    if wrong:
        sys.exit(f"other trees of {', '.join(wrong)}")


if __name__ == "__main__":
    main(sys.argv[1:])
