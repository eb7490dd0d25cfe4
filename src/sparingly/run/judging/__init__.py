"""A judge of one's own: a language model behind a chat endpoint scores every output, or compares pairs."""
