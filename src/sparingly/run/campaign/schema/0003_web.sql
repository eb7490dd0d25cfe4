-- What the web pages keep beside the journal: who may come in, who is working on what, what is half typed, which
-- parts of an output were marked, and who did what. No estimate reads any of it.

CREATE TABLE sparingly_access (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  digest TEXT NOT NULL,
  role TEXT NOT NULL,
  rater TEXT NOT NULL,
  made_at TEXT NOT NULL,
  retired_at TEXT,
  PRIMARY KEY (campaign, digest)
);

CREATE TABLE sparingly_leases (
  campaign TEXT NOT NULL,
  data TEXT NOT NULL,
  unit TEXT NOT NULL,
  rater TEXT NOT NULL,
  until TEXT NOT NULL,
  PRIMARY KEY (campaign, data, unit),
  FOREIGN KEY (campaign, data) REFERENCES sparingly_data_sets (campaign, name)
);

CREATE TABLE sparingly_drafts (
  campaign TEXT NOT NULL,
  rater TEXT NOT NULL,
  data TEXT NOT NULL,
  item TEXT NOT NULL,
  at TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (campaign, rater, data, item),
  FOREIGN KEY (campaign, data) REFERENCES sparingly_data_sets (campaign, name)
);

CREATE TABLE sparingly_marks (
  campaign TEXT NOT NULL,
  seq BIGINT NOT NULL,
  marks TEXT NOT NULL,
  PRIMARY KEY (campaign, seq),
  FOREIGN KEY (campaign, seq) REFERENCES sparingly_ratings (campaign, seq)
);

CREATE TABLE sparingly_audit (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  at TEXT NOT NULL,
  id TEXT NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (campaign, at, id)
);
