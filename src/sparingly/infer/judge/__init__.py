"""Can the judge be trusted: its errors, its biases, what it saves, beside what people reach."""
