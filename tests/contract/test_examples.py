"""Every example runs and checks its own physics."""

import pytest
from test_docs import EXAMPLES, ran


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example(file):
    folder, _ = ran(file)
    assert (folder / f"{file.stem}.png").stat().st_size > 10_000
    lines = file.read_text(encoding="utf-8").splitlines()
    assert 30 <= len(lines) <= 80
    assert {line.partition("(")[0] for line in lines} >= {"def build", "def check"}
