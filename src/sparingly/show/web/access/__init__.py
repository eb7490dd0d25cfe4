"""Who comes in: sessions, cookies, and what is refused at the door."""
