"""Pools of sources larger than memory: scored in one pass over the files, drawn in another."""
