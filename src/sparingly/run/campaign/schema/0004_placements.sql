-- Where on the page an output stood when it was judged, and which sessions of the web pages were ended by hand.

CREATE TABLE sparingly_placements (
  campaign TEXT NOT NULL,
  seq BIGINT NOT NULL,
  place INTEGER NOT NULL,
  cards INTEGER NOT NULL,
  turned INTEGER NOT NULL,
  PRIMARY KEY (campaign, seq),
  FOREIGN KEY (campaign, seq) REFERENCES sparingly_ratings (campaign, seq)
);

CREATE TABLE sparingly_ended_sessions (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  session TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (campaign, session)
);
