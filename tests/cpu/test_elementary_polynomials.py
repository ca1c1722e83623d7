"""The coefficients in the source are those that the script derives."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_polynomials_are_derived_by_the_script() -> None:
    command = [sys.executable, str(ROOT / "tools/polynomials.py"), "--check"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ours
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr
