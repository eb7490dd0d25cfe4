"""The encoder learner: a transformer with a small network on top, trained to tell utilities from sources.

``training`` has the settings, ``fitting`` trains, ``known`` is what was learned, and ``archive`` keeps it in
a file from which no code is ever run. torch and transformers are loaded only when an encoder is trained or
applied.
"""
