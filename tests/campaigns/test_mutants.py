"""Mutants of a source: what is changed and what is left alone; one of them against a test that notices."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.campaigns.mutants import mutants

ROOT = Path(__file__).parents[2]
SOURCE = '''"""1 + 2"""
LIMIT = 3


def f(x: int = 4, *, label="5"):
    """6 + 7"""
    if x < 2.0 and g(x, 1):
        raise ValueError(f"{x + 8}")
    x += 1
    return -x[0] * x[1] - 0.5
'''


def test_every_change_is_one_change(tmp_path):
    path = tmp_path / "source.py"
    path.write_text(SOURCE)
    found = mutants(path)
    kinds = [m.kind for m in found]
    for kind in (
        "operator",
        "dropped term",
        "dropped statement",
        "sign",
        "comparison",
        "and, or",
        "swapped arguments",
        "index",
    ):
        assert kind in kinds, kind
    for mutant in found:
        changed = [k for k, (a, b) in enumerate(zip(SOURCE.splitlines(), mutant.text.splitlines(), strict=True), 1) if a != b]
        assert changed == [mutant.line] and mutant.line not in (1, 2, 5, 6, 8)
    assert "+    return (-x[0] * x[1] + 0.5)" in [m.diff.splitlines()[-1] for m in found]
    assert len({m.text for m in found}) == len(found)


def test_selection():
    """A name without a file is an error; every kernel has tests or a reason to be left out, once."""
    code = """if True:
        from benchmarks.campaigns.mutations import FILES, LEFT_OUT, SOURCES, files
        for names in ("vectors vectors", "gone"):
            try:
                files((("kernels/base", names, ()),))
            except ValueError as error:
                print(error)
        kernels = {str(f.relative_to(SOURCES)) for f in SOURCES.glob("kernels/*/*.py") if f.stem != "__init__"}
        left = [f"kernels/{name}.py" for names in LEFT_OUT.values() for name in names.split()]
        print(sorted(kernels ^ {*left, *(name for name in FILES if name.startswith("kernels"))}), {*left} & {*FILES})
        print([name for name, groups in FILES.items() if not groups], len(left) - len({*left}))
    """
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [
        "kernels/base/vectors.py is twice in TESTS",
        "kernels/base/gone.py is in TESTS, but there is no such file",
        "[] set()",
        "[] 0",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_mutant_is_noticed():
    """In a process of its own: the campaign forks it and turns the compiler off."""
    code = (
        "from benchmarks.campaigns.mutations import LAGRANGIAN, SOURCES, attack;"
        "from benchmarks.campaigns.mutants import mutants;"
        "m = next(m for m in mutants(SOURCES / 'lagrangian/equations.py') if m.kind == 'operator' and '(a + b) + Q' in m.diff);"
        "print(attack(None, (('tests/campaigns/test_mutants.py', '-k', 'every'),))[0], attack(m, (LAGRANGIAN,))[0])"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["False", "True"]
