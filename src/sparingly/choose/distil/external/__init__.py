"""Models of others that tell utilities: they work where package and weights are, or say what to install.

Nothing of them is part of this package. Their checkpoints are read by their own packages, with pickle: load
none that you do not trust.
"""
