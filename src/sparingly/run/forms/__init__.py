"""Forms: how a question is put to a person, and what an answer is."""
