"""What the judged items say: rankings of models and how close a subset comes to the full evaluation."""
