"""Utilities learned from past evaluations, for sources that no model has seen yet.

``train`` learns, ``model`` predicts and is saved as a file from which no code is ever run, and ``apply`` has
the utility ``distilled``, which uses such a file in any method.
"""
