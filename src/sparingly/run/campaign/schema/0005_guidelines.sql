-- What raters did before they judged (which guidelines they accepted, what they said about themselves), and what
-- they answered to items whose answers are known. No estimate reads any of it.

CREATE TABLE sparingly_accepted (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  rater TEXT NOT NULL,
  version INTEGER NOT NULL,
  consent TEXT NOT NULL,
  details TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (campaign, rater, version)
);

CREATE TABLE sparingly_known_answers (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  rater TEXT NOT NULL,
  kind TEXT NOT NULL,
  item TEXT NOT NULL,
  model TEXT NOT NULL,
  aspect TEXT NOT NULL,
  at TEXT NOT NULL,
  score DOUBLE PRECISION,
  expected DOUBLE PRECISION NOT NULL,
  is_right INTEGER NOT NULL,
  seconds DOUBLE PRECISION,
  PRIMARY KEY (campaign, rater, kind, item, model, aspect)
);
