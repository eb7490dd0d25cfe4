"""Exchange with the tools that people judge in: one file per tool, tasks out and answers in."""
