"""Raters: who judges what, how severe they are, how well they agree, and who is far from the rest."""
