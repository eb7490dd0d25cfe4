"""Is one model better than another: wins and differences of two, win rates and strengths of many."""
