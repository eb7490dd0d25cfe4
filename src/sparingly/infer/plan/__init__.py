"""Planning: what a budget of judgements buys, before it is spent."""
