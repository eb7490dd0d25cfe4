"""What is known about an item before anyone judges it: lengths, costs."""
