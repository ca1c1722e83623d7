"""Options and profiles that every test shares."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=100, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.register_profile("deep", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--slow``."""
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests marked slow out, unless they are asked for."""
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], dict[str, Any]]:
    """Read a file of known-good cases: from beside the checkout, else the copy in ``data``."""

    def read(name: str) -> dict[str, Any]:
        here = Path(__file__).parent
        beside = here.parents[1] / "shared" / "vectors" / f"{name}.json"
        path = beside if beside.exists() else here / "data" / f"{name}.json"
        loaded: dict[str, Any] = json.loads(path.read_text())
        return loaded

    return read
