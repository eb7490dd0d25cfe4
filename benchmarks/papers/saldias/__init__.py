"""The tables of Saldías et al. 2022: errors of mean scores, their bounds, and how raters are predicted."""
