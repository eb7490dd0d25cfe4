"""Utilities learned from past evaluations, for sources that no model has seen yet.

``train`` learns, ``model`` predicts, ``saved`` keeps a model as a file from which no code is ever run, and
``distilled`` is the utility that uses such a file in any method.
"""
