"""`bittrue verify`: status, files, refusals, and the bar that only a terminal sees."""

import errno
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import bittrue as library
from bittrue import files as files_module
from bittrue.cli import verify as command
from bittrue.conformance import runner
from bittrue.report import html, text

SMALL = ("--cases", "20", "--ops", "add", "neg")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# --- status and output ----------------------------------------------------------------------------


@pytest.mark.rule("cli.verify.status")
def test_status_tells_whether_a_case_departs(bittrue):
    right = bittrue("verify", "generic", *SMALL)
    assert (right.status, right.err) == (0, "")
    assert right.out.endswith("cases depart.\n")
    wrong = bittrue("verify", "numpy", *SMALL)
    assert (wrong.status, wrong.err) == (1, "")
    assert "wraps instead of raising: add(" in wrong.out


@pytest.mark.rule("cli.verify.status")
def test_other_nan_bits_are_no_mismatch_until_bits_are_asked_for(bittrue):
    nans = ("--ops", "sqrt", "--cases", "300")
    assert bittrue("verify", "numpy", *nans).status == 0
    assert bittrue("verify", "numpy", *nans, "--strict").status == 1
    assert bittrue("verify", "cpu", *nans, "--no-strict").status == 0


@pytest.mark.rule("cli.verify.output")
def test_command_prints_the_report_of_the_library(bittrue):
    said = bittrue("verify", "numpy", *SMALL, "--seed", "5", "--against", "cpu")
    run = library.verify("numpy", against="cpu", operations=["add", "neg"], cases=20, seed=5)
    assert said.out == text.render(run) + "\n"


@pytest.mark.rule("cli.verify.determinism")
def test_same_seed_gives_the_same_bytes_and_another_seed_others(bittrue, tmp_path):
    for name, seed in (("first", 1), ("second", 1), ("third", 2)):
        files = ("--json", f"{name}.json", "--html", f"{name}.html")
        said = bittrue("verify", "numpy", "--cases", "300", "--ops", "exp", "--seed", seed, *files)
        (tmp_path / f"{name}.txt").write_text(said.out)
    for kind in ("json", "html", "txt"):
        first, second, third = (
            (tmp_path / f"{name}.{kind}").read_bytes() for name in ("first", "second", "third")
        )
        assert first == second != third


@pytest.mark.rule("cli.verify.files")
def test_files_hold_the_run(bittrue, tmp_path):
    said = bittrue("verify", "numpy", *SMALL, "--json", "run.json", "--html", "run.html")
    run = library.verify("numpy", operations=["add", "neg"], cases=20)
    assert said.status == 1
    assert said.out == text.render(run) + "\n"
    assert json.loads((tmp_path / "run.json").read_text()) == run.to_json()
    assert (tmp_path / "run.html").read_text() == html.render(run)
    assert names(tmp_path) == ["run.html", "run.json"]


@pytest.mark.rule("cli.verify.files")
def test_dash_is_standard_output_and_nothing_else_is_printed_there(bittrue):
    run = library.verify("numpy", operations=["add", "neg"], cases=20)
    said = bittrue("verify", "numpy", *SMALL, "--json", "-")
    assert json.loads(said.out) == run.to_json()
    assert bittrue("verify", "numpy", *SMALL, "--html", "-").out == html.render(run)


# --- refusals -------------------------------------------------------------------------------------

BAD = {
    "unknown backend": (["nonsense"], "nonsense"),
    "unknown reference": (["generic", "--against", "nonsense"], "nonsense"),
    "unknown operation": (["generic", "--ops", "add", "nonsense"], "'nonsense'"),
    "no backend": ([], "BACKEND"),
    "no operation": (["generic", "--ops"], "--ops"),
    "no cases": (["generic", "--cases", "0"], "cases"),
    "negative cases": (["generic", "--cases", "-5"], "cases"),
    "cases in words": (["generic", "--cases", "many"], "many"),
    "negative seed": (["generic", "--seed", "-1"], "seed"),
    "seed in words": (["generic", "--seed", "x"], "'x'"),
    "unknown policy": (["generic", "--policy", "nonsense"], "nonsense"),
    "unknown option": (["generic", "--nonsense"], "--nonsense"),
    "JSON in no folder": (["generic", "--json", "no/run.json"], "no folder for 'no/run.json'"),
    "JSON that is a folder": (["generic", "--json", "."], "'.' is a folder"),
    "HTML in no folder": (["generic", "--html", "no/run.html"], "no folder for 'no/run.html'"),
    "HTML that is a folder": (["generic", "--html", "."], "'.' is a folder"),
    "both to one file": (["generic", "--json", "run", "--html", "run"], "both name 'run'"),
    "both to standard output": (["generic", "--json", "-", "--html", "-"], "both name '-'"),
}


@pytest.mark.rule("cli.verify.refusals")
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line_before_any_work(refused, tmp_path, monkeypatch, name):
    def worked(*_arguments):
        pytest.fail("a plan was tried first")

    monkeypatch.setattr(runner, "trials", worked)
    arguments, says = BAD[name]
    refused("verify", *arguments, says=says)
    assert names(tmp_path) == []


@pytest.mark.rule("cli.verify.refusals")
def test_library_that_is_not_installed_is_named(refused, monkeypatch):
    monkeypatch.setattr("bittrue.providers.registry._loaded", {})
    monkeypatch.delitem(sys.modules, "bittrue.providers.torch_adapter", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    refused("verify", "torch", says="pip install 'bittrue[torch]'")


@pytest.mark.rule("cli.verify.whole-files")
@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize("before", [None, "what was there"])
def test_full_disk_leaves_what_was_there(refused, tmp_path, monkeypatch, option, before):
    if before is not None:
        (tmp_path / "run").write_text(before)

    def full(handle, _mode):
        os.close(handle)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files_module.os, "fdopen", full)
    refused("verify", "generic", *SMALL, option, "run", says="No space left on device")
    assert names(tmp_path) == ([] if before is None else ["run"])
    if before is not None:
        assert (tmp_path / "run").read_text() == before


@pytest.mark.rule("cli.verify.interrupt")
def test_interrupt_writes_no_file(bittrue, tmp_path, monkeypatch):
    def interrupted(*_backend, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "verify", interrupted)
    said = bittrue("verify", "generic", *SMALL, "--json", "run.json")
    assert (said.status, said.out, said.err) == (130, "", "bittrue: interrupted\n")
    assert names(tmp_path) == []


# --- the process ----------------------------------------------------------------------------------

PROGRAM = [sys.executable, "-c", "import sys; from bittrue.cli.main import main; sys.exit(main())"]


def process(*arguments, **options):
    return subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [*PROGRAM, *arguments],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        **options,
    )


def on_a_terminal(*arguments) -> tuple[int, bytes, bytes]:
    """Run with standard error on a terminal; return status, output and what the terminal saw."""
    ours, theirs = pty.openpty()
    seen = bytearray()

    def watch():
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other side is closed
                return
            if not part:
                return
            seen.extend(part)

    watcher = threading.Thread(target=watch)
    watcher.start()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    environment.pop("NO_COLOR", None)
    try:
        with process(*arguments, stderr=theirs, env=environment) as running:
            out, _ = running.communicate(timeout=60)
    finally:
        os.close(theirs)
        watcher.join(timeout=10)
        os.close(ours)
    return running.returncode, out, bytes(seen)


@pytest.mark.rule("cli.verify.progress")
def test_terminal_sees_a_bar_that_counts_the_plans():
    status, out, seen = on_a_terminal("verify", "generic", "--cases", "20", "--ops", "add", "mul")
    plans = len(library.verify("generic", operations=["add", "mul"], cases=1).reports)
    assert status == 0
    assert f"{plans}/{plans}".encode() in seen
    assert b"\x1b[" not in out
    assert out.endswith(b"cases depart.\n")


@pytest.mark.rule("cli.verify.progress")
def test_pipe_sees_nothing():
    with process("verify", "generic", "--cases", "20", "--ops", "add", "mul") as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, b"")
    assert b"\x1b[" not in out


@pytest.mark.rule("cli.streams")
def test_full_standard_output_is_one_line_and_status_2():
    if not Path("/dev/full").is_char_device():
        pytest.skip("no /dev/full on this system")
    with Path("/dev/full").open("wb") as full, process("plans", stdout=full) as running:
        _, err = running.communicate(timeout=60)
    assert running.returncode == 2
    assert err == b"bittrue: error: [Errno 28] No space left on device\n"


@pytest.mark.rule("cli.streams")
def test_reader_that_leaves_ends_the_command_without_a_word():
    """Not with status 0: nobody has seen whether a case departs."""
    read, write = os.pipe()
    os.close(read)
    try:
        with process("verify", "numpy", *SMALL, stdout=write) as running:
            _, err = running.communicate(timeout=60)
    finally:
        os.close(write)
    assert (running.returncode, err) == (141, b"")


@pytest.mark.rule("cli.verify.interrupt")
def test_interrupted_process_leaves_no_file(tmp_path):
    arguments = ("verify", "generic", "--cases", "1000000", "--ops", "exp", "--json", "run.json")
    program = "import bittrue.cli.main as m, sys; print('ready', flush=True); sys.exit(m.main())"
    with subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    ) as running:
        assert running.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"bittrue: interrupted\n")
    assert names(tmp_path) == []
