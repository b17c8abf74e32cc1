"""The published problems as a suite: `dalembert benchmark` on the command line, `run_suite` in Python."""

from __future__ import annotations

from dalembert.benchmark.record import SuiteResult
from dalembert.benchmark.runner import run_suite

__all__ = ["SuiteResult", "run_suite"]
