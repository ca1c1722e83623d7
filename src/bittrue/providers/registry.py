"""Name -> backend. A backend is loaded when it is first asked for."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from bittrue.errors import RefusedTypeError, RefusedValueError, UnsupportedError
from bittrue.providers.provider import Backend


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A backend by name: the module and class that implement it, and what installs its library."""

    name: str
    module: str
    cls: str
    install: str = ""
    runs_by_default: bool = False


BACKENDS: tuple[BackendRow, ...] = (
    BackendRow("cpu", "bittrue.providers.cpu", "CpuBackend", runs_by_default=True),
    BackendRow("generic", "bittrue.providers.generic", "GenericBackend", runs_by_default=True),
    BackendRow("numpy", "bittrue.providers.numpy_adapter", "NumpyBackend"),
    BackendRow("torch", "bittrue.providers.torch_adapter", "TorchBackend", "bittrue[torch]"),
    BackendRow(
        "onnxruntime",
        "bittrue.providers.onnxruntime_adapter",
        "OnnxRuntimeBackend",
        "bittrue[onnxruntime]",
    ),
)

_loaded: dict[str, Backend] = {}


def backend_names() -> tuple[str, ...]:
    """Names of all backends, installed or not, in the order of the table."""
    return tuple(row.name for row in BACKENDS)


def default_backends() -> tuple[Backend, ...]:
    """Return the backends that `run` offers a plan to, in order; the last one takes every plan."""
    return tuple(backend_of(row.name) for row in BACKENDS if row.runs_by_default)


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
    for row in BACKENDS:
        if row.name == name:
            break
    else:
        msg = ("backend", f"unknown name {name!r}", ", ".join(backend_names()))
        raise RefusedValueError(*msg)
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
