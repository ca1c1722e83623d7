"""Sweeps of the compiled primitives: what they take, resume, and find."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bittrue import cpu
from bittrue.cli.main import main
from bittrue.conformance import sweep
from bittrue.errors import RefusedValueError

FEW = 1 << 14


@pytest.fixture
def short(monkeypatch):
    """Sweep the first patterns only, in four chunks."""
    monkeypatch.setattr(sweep, "CHUNK", FEW // 4)
    monkeypatch.setattr(sweep, "PATTERNS", FEW)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("operation", cpu.PRIMITIVES)
def test_sweep_takes_every_pattern(operation):
    found = sweep.run(sweep.start(operation, every=True))
    assert (found.done, found.special, found.departures) == (FEW, 1, 0)
    assert found.passed
    assert found.finished


@pytest.mark.parametrize("operation", cpu.PRIMITIVES)
@pytest.mark.parametrize("first", [0x3F00_0000, 0x7F7F_0000, 0xBF7F_8000, 0xC2CE_0000])
def test_sweep_of_a_window(operation, first):
    """Where results are ordinary, end in infinities and NaNs, leave a domain, become subnormal."""
    begun = replace(sweep.start(operation, every=True), done=first, total=first + (1 << 16))
    found = sweep.run(begun)
    assert found.passed, found.shown
    assert found.worst_error <= found.bound


@pytest.mark.usefixtures("short")
def test_sweep_resumes_where_it_stopped(tmp_path: Path):
    class Stop(Exception):  # noqa: N818 - no error
        """End a sweep in its middle."""

    def stop(done: int, total: int) -> None:
        if done * 2 == total:
            raise Stop

    state = tmp_path / "state.json"
    fresh = sweep.start("log")
    with pytest.raises(Stop):
        sweep.run(fresh, state=state, progress=stop)
    kept = sweep.load(state, fresh)
    assert kept.done == FEW // 2
    finished = sweep.run(kept, state=state)
    assert replace(finished, seconds=0) == replace(sweep.run(fresh), seconds=0)
    assert sweep.load(state, fresh) == finished


@pytest.mark.usefixtures("short")
def test_sweep_of_another_build_starts_again(tmp_path: Path):
    state = tmp_path / "state.json"
    fresh = sweep.start("log")
    sweep.run(fresh, state=state)
    other = replace(fresh, build="another")
    assert sweep.load(state, other) == other
    state.write_text("[]")
    with pytest.raises(RefusedValueError, match="no state of a sweep"):
        sweep.load(state, fresh)


def test_sweep_finds_a_planted_fault(monkeypatch):
    """A reference that is one unit off must be noticed near boundaries and at special operands."""
    right = sweep._REFERENCE["exp"]  # noqa: SLF001 - the fault goes where the sweep looks
    monkeypatch.setitem(sweep._REFERENCE, "exp", lambda bits: right(bits) ^ 1)  # noqa: SLF001
    begun = replace(sweep.start("exp"), done=0x7F7F_0000, total=0x7F81_0000)
    special = sweep.run(begun)
    assert special.departures == 1 + 0xFFFF
    assert len(special.shown) == sweep.SHOWN
    begun = replace(sweep.start("exp"), done=0x3F00_0000, total=0x3F10_0000)
    ordinary = sweep.run(begun)
    assert ordinary.departures == ordinary.near > 0
    assert not ordinary.passed


@pytest.mark.parametrize("level", ["baseline", "v3", "v4"])
@pytest.mark.parametrize("operation", cpu.PRIMITIVES)
def test_recorded_results(operation, level):
    """Every result for operands in [1/2, 2) is the one that MPFR gave when it was recorded."""
    before = cpu.level()
    try:
        cpu.set_level(level)
    except ValueError:
        pytest.skip(f"this machine has no level {level}")
    try:
        begun = replace(sweep.start(operation), done=0x3F00_0000, total=0x4000_0000)
        found = sweep.run(begun)
    finally:
        cpu.set_level(before)
    assert found.recorded == sweep.RECORDED == 1 << 24
    assert found.passed, (found.unequal, found.shown)


def test_sweep_finds_a_departure_from_the_record(monkeypatch, capsys):
    digests = list(sweep.recorded_digests()["exp"])
    digests[0x3F] = f"{int(digests[0x3F], 16) ^ 1:016x}"
    monkeypatch.setattr(sweep, "recorded_digests", lambda: {"exp": digests})
    begun = replace(sweep.start("exp"), done=0x3E00_0000, total=0x4000_0000)
    monkeypatch.setattr(sweep, "start", lambda *_, **__: begun)
    assert main(["sweep", "exp"]) == 1
    assert "exp 3f000000 to 3fffffff: not MPFR's results" in capsys.readouterr().out


def test_sweep_of_pow_draws_the_same_pairs():
    first, second = (sweep.run(sweep.start("pow", every=True, pairs=20_000)) for _ in range(2))
    assert replace(first, seconds=0) == replace(second, seconds=0)
    assert first.passed, first.shown


@pytest.mark.parametrize(
    ("operation", "pairs", "message"),
    [("gamma", 1, "no primitive 'gamma'"), ("pow", 0, "0 pairs")],
)
def test_sweep_refusals(operation, pairs, message):
    with pytest.raises(RefusedValueError, match=message):
        sweep.start(operation, pairs=pairs)


@pytest.mark.usefixtures("short")
def test_sweep_command(tmp_path: Path, capsys):
    target = tmp_path / "found.json"
    assert main(["sweep", "exp", "log", "--state", str(tmp_path), "--json", str(target)]) == 0
    listed = json.loads(target.read_text())
    assert [one["operation"] for one in listed] == ["exp", "log"]
    assert all(one["finished"] and one["passed"] for one in listed)
    assert sorted(path.name for path in tmp_path.glob("*-*.json")) == [
        f"exp-{cpu.level()}.json",
        f"log-{cpu.level()}.json",
    ]
    assert capsys.readouterr().out.splitlines()[0].startswith("function  level")
    assert main(["sweep", "exp", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("| function | level |")
    assert main(["sweep", "exp", "--state", str(tmp_path / "absent")]) == 2
    assert main(["sweep", "gamma"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("operation", cpu.PRIMITIVES)
def test_sweep_of_all_inputs(operation):
    found = sweep.run(sweep.start(operation), threads=2)
    assert found.passed, found.shown
