"""The version of the package, read by the build and printed in signatures."""

__version__ = "0.1.0.dev0"
