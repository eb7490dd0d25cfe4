"""The version of the package, read by the build and printed in signatures."""

__version__ = "0.2.0.dev0"
