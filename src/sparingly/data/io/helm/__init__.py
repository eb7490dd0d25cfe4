"""Run directories of HELM."""
