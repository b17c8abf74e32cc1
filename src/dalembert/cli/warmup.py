"""dalembert warmup"""

from __future__ import annotations

import time
from typing import Annotated

import typer

from dalembert.cli.console import Voice, reported_errors


def warmup(
    everything: Annotated[bool, typer.Option("--all", help="Also the kernels that only some options need.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Compile the kernels now, so that the first run does not have to."""
    with reported_errors(Voice(quiet=True)):  # it says itself what it compiles
        from dalembert.cli.kernels import KERNELS, duration, not_compiled
        from dalembert.kernels.base.cache import CACHE

        voice = Voice(quiet=quiet)
        wanted = [kernel for kernel in KERNELS if everything or not kernel.optional]
        missing = not_compiled(wanted)
        takes = f": {duration(missing)}" if missing else ""
        voice.say(f"{len(wanted)} kernels, {len(missing)} to compile{takes}")
        begin = time.perf_counter()
        for count, kernel in enumerate(missing, 1):
            start = time.perf_counter()
            kernel.compile()
            voice.say(f"{count}/{len(missing)} {kernel.name} ({kernel.purpose}): {time.perf_counter() - start:.1f} s")
        voice.say(f"ready after {time.perf_counter() - begin:.1f} s; cached in {CACHE or 'no folder'}")
