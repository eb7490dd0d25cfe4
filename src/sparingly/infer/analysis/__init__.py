"""Why a selection works: what is behind the choices, as numbers that can be printed, saved and drawn."""
