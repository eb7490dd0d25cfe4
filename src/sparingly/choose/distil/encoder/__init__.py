"""The encoder learner: a transformer with a small network on top, trained to predict utilities of sources.

``settings`` say how to train, ``training`` trains, ``fitted`` predicts and saves the result as a file from
which no code is ever run. torch and transformers are loaded only when an encoder is trained or applied.
"""
