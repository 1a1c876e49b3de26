"""How long `c45gpu --help` takes to start, beside `import sklearn`: medians over fresh interpreters.

python bench/bench_startup.py [REPEATS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "c45gpu --help": [sys.executable, "-m", "c45gpu", "--help"],
    "import c45gpu": [sys.executable, "-c", "import c45gpu"],
    "import sklearn": [sys.executable, "-c", "import sklearn"],
    "an empty program": [sys.executable, "-c", ""],
}


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main() -> None:
    """Run the commands in turn, so that a disturbance hits all of them; the first round warms the disk."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    rounds = [{name: seconds(command) for name, command in COMMANDS.items()} for _ in range(repeats + 1)][1:]
    for name in COMMANDS:
        times = [figures[name] for figures in rounds]
        print(f"{name:18} median {statistics.median(times):.3f} s, least {min(times):.3f} s, most {max(times):.3f} s")


if __name__ == "__main__":
    main()
