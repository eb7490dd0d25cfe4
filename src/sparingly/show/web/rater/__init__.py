"""The pages of raters: what they are shown, and what they send."""
