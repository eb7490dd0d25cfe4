"""The drawing library, which is an extra: pictures say how to install it when it is not there."""

from __future__ import annotations

from importlib import import_module

from sparingly.base.errors import ExtraMissingError

EXTRA = "report"
_PACKAGES = ("altair", "vl_convert")


def need_report() -> None:
    """Complain, naming the extra, where the libraries that draw are not installed."""
    for package in _PACKAGES:
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != package:
                raise
            raise ExtraMissingError("A picture", EXTRA) from None
