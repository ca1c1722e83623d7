"""Name -> backend. A backend is loaded when it is first asked for."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import platform
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from bittrue.errors import RefusedTypeError, RefusedValueError, UnsupportedError
from bittrue.providers.provider import Backend


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A backend by name: the module and class that implement it.

    `install` is what pip installs for it, `runs_by_default` whether `run` offers it plans (such a
    backend promises every bit), `library` the distribution whose version a report names.
    """

    name: str
    module: str
    cls: str
    install: str = ""
    runs_by_default: bool = False
    library: str = "bittrue"


BACKENDS: tuple[BackendRow, ...] = (
    BackendRow("cpu", "bittrue.providers.cpu", "CpuBackend", runs_by_default=True),
    BackendRow("generic", "bittrue.providers.generic", "GenericBackend", runs_by_default=True),
    BackendRow("numpy", "bittrue.providers.numpy_adapter", "NumpyBackend", library="numpy"),
    BackendRow(
        "torch",
        "bittrue.providers.torch_adapter",
        "TorchBackend",
        "bittrue[torch]",
        library="torch",
    ),
    BackendRow(
        "onnxruntime",
        "bittrue.providers.onnxruntime_adapter",
        "OnnxRuntimeBackend",
        "bittrue[onnxruntime]",
        library="onnxruntime",
    ),
)

_loaded: dict[str, Backend] = {}


def backend_names() -> tuple[str, ...]:
    """Names of all backends, installed or not, in the order of the table."""
    return tuple(row.name for row in BACKENDS)


_order: ContextVar[tuple[Backend, ...] | None] = ContextVar("order of backends", default=None)


def default_backends() -> tuple[Backend, ...]:
    """Return the backends that `run` offers a plan to, in order.

    Outside a `backends` block these are CPU and Generic, and the last one takes every plan.
    """
    return _order.get() or tuple(backend_of(row.name) for row in BACKENDS if row.runs_by_default)


@contextlib.contextmanager
def backends(*order: str | Backend) -> Iterator[None]:
    """Offer every plan inside the block to these backends, the first that takes it running it.

    Names or providers; operators of tensors are meant too, a call with its own ``backend=`` is
    not. The block holds for this thread and may stand inside another one. A backend that declines
    changes nothing but who is asked next; where all decline, `NotImplementedError`. Raises
    `ValueError` for no backend at all and as `backend_of` does. Clause: tensor-promotion, *Core
    Rules* (backend availability does not change the mathematical result dtype).
    """
    if not order:
        raise RefusedValueError("backends", "got no backend", "at least one")
    token = _order.set(tuple(backend_of(backend) for backend in order))
    try:
        yield
    finally:
        _order.reset(token)


def _row_of(name: str) -> BackendRow | None:
    return next((row for row in BACKENDS if row.name == name), None)


def promises_bits(backend: Backend) -> bool:
    """Tell whether a backend promises the bits of the contract: one of ours does."""
    row = _row_of(backend.name)
    return row is not None and row.runs_by_default


def versions_of(backend: Backend) -> dict[str, str]:
    """Return the versions that a report names: bittrue, Python, the platform, the library."""
    row = _row_of(backend.name)
    names = dict.fromkeys(("bittrue", "numpy", "bittrue" if row is None else row.library))
    return {
        **{name: importlib.metadata.version(name) for name in names},
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def backend_of(backend: str | Backend) -> Backend:
    """Return the backend of a name, or the provider itself.

    Raises `ValueError` for an unknown name, `NotImplementedError` where its library is not
    installed, `TypeError` for an object that does not follow the protocol.
    """
    if not isinstance(backend, str):
        if isinstance(backend, Backend):
            return backend
        raise RefusedTypeError(
            "backend", f"got {type(backend).__name__}", "a name or an object with the protocol"
        )
    if backend not in _loaded:
        _loaded[backend] = _load(backend)
    return _loaded[backend]


def _load(name: str) -> Backend:
    row = _row_of(name)
    if row is None:
        raise RefusedValueError("backend", f"unknown name {name!r}", ", ".join(backend_names()))
    try:
        module = importlib.import_module(row.module)
    except ModuleNotFoundError as error:
        if not row.install or (error.name or "").startswith("bittrue"):
            raise
        raise UnsupportedError(
            f"backend {name}",
            f"{error.name} is not installed",
            "an installed library",
            f"pip install '{row.install}'",
        ) from None
    backend: Backend = getattr(module, row.cls)()
    return backend
