"""The tables and figures of the papers, computed anew and shown next to what was published."""
