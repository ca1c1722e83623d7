"""Every example that the documentation shows is executed and compared with what it shows."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bittrue.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
OPTIONS = doctest.ELLIPSIS | doctest.REPORT_NDIFF
MEASURED = "verify"
"""Output of this command belongs to the machine and library it ran on."""


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _blocks(page: Path, language: str) -> list[str]:
    """Return the page's lines, all outside fences of `language` blank, so that numbers agree."""
    lines, inside = [], False
    for line in page.read_text().splitlines():
        fence = line.startswith("```")
        if fence:
            inside = not inside and line == f"```{language}"
        lines.append("" if fence or not inside else line)
    return lines


def _commands(page: Path) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output shown below it."""
    text = "\n".join(_blocks(page, "console"))
    for block in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = block.partition("\n")
        yield command, shown.strip("\n") + "\n"


COMMANDS = [
    pytest.param(command, shown, id=f"{_name(page)}: {command}")
    for page in PAGES
    for command, shown in _commands(page)
    if not command.startswith(f"bittrue {MEASURED}")
]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_python_examples_give_what_the_page_shows(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = "\n".join(_blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(source, {}, _name(page), str(page), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_commands_print_what_the_page_shows(
    command: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *arguments = shlex.split(command)
    assert program == "bittrue"
    status = main(arguments)
    printed = capsys.readouterr()
    assert status == (2 if printed.err else 0)
    assert doctest.OutputChecker().check_output(shown, printed.out + printed.err, OPTIONS), (
        printed.out + printed.err
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=_name)
def test_example_scripts_run(script: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
