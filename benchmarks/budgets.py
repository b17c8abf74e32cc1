"""Import, a first run ever (empty kernel cache, compilation included), and a second process: CPU and wall seconds.

The bytecode of Python's modules is written as it is for an installed package, into a folder of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.table import Table

RUN = "import dalembert as da; from dalembert.gallery import build; da.simulate(build('slider_crank'), 5.0).report()"

BYTECODE = "import compileall, dalembert; compileall.compile_dir(dalembert.__path__[0], quiet=2); import numba, numpy, scipy"


def measure(code: str, cache: str) -> tuple[float, float]:
    """(wall, CPU) seconds of a new Python process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": f"{cache}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - begin, cpu


def main() -> None:
    console = Console(width=100)
    table = Table(title="budgets [s]", title_justify="left")
    for heading in ("what", "wall", "CPU", "limit"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    with tempfile.TemporaryDirectory() as cache:
        measure(BYTECODE, cache)
        bare = min(measure("pass", cache) for _ in range(5))
        imported = min(measure("import dalembert", cache) for _ in range(5))
        first = measure(RUN, cache)
        second = min(measure(RUN, cache) for _ in range(3))
    table.add_row("Python itself", f"{bare[0]:.2f}", f"{bare[1]:.2f}", "")
    table.add_row("import dalembert", f"{imported[0]:.2f}", f"{imported[1]:.2f}", "0.5 wall")
    table.add_row("first run ever: slider-crank, 5 s, report", f"{first[0]:.2f}", f"{first[1]:.2f}", "8 CPU")
    table.add_row("second process, same run", f"{second[0]:.2f}", f"{second[1]:.2f}", "1.0 CPU")
    console.print(table)


if __name__ == "__main__":
    main()
