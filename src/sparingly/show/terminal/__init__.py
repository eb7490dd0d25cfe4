"""Tables and curves for the terminal."""
