-- The first schema: a journal of numbered entries (answers and events) and what the entries speak about.
-- The same text for SQLite and PostgreSQL: SQLite keeps any value in a column of any type.

CREATE TABLE sparingly_schema (
  version INTEGER NOT NULL PRIMARY KEY,
  applied_at TEXT NOT NULL
);

CREATE TABLE sparingly_campaigns (
  name TEXT NOT NULL PRIMARY KEY,
  created_at TEXT NOT NULL,
  aspect TEXT NOT NULL,
  aspects TEXT NOT NULL,
  strategy TEXT NOT NULL,
  stops TEXT NOT NULL,
  budget TEXT NOT NULL,
  size INTEGER,
  seed BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  head TEXT NOT NULL,
  closed BIGINT
);

CREATE TABLE sparingly_data_sets (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  name TEXT NOT NULL,
  budget TEXT NOT NULL,
  PRIMARY KEY (campaign, name)
);

CREATE TABLE sparingly_data_versions (
  campaign TEXT NOT NULL,
  data TEXT NOT NULL,
  seq BIGINT NOT NULL,
  digest TEXT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (campaign, data, seq),
  FOREIGN KEY (campaign, data) REFERENCES sparingly_data_sets (campaign, name)
);

CREATE TABLE sparingly_models (
  campaign TEXT NOT NULL,
  data TEXT NOT NULL,
  model TEXT NOT NULL,
  arrived BIGINT NOT NULL,
  withdrawn BIGINT,
  PRIMARY KEY (campaign, data, model),
  FOREIGN KEY (campaign, data) REFERENCES sparingly_data_sets (campaign, name)
);

CREATE TABLE sparingly_rounds (
  campaign TEXT NOT NULL,
  data TEXT NOT NULL,
  number INTEGER NOT NULL,
  seq BIGINT NOT NULL,
  as_of BIGINT NOT NULL,
  strategy TEXT NOT NULL,
  aspect TEXT NOT NULL,
  budget TEXT NOT NULL,
  size INTEGER,
  seed BIGINT NOT NULL,
  inputs TEXT NOT NULL,
  labels TEXT,
  digest TEXT NOT NULL,
  selection TEXT NOT NULL,
  PRIMARY KEY (campaign, data, number),
  FOREIGN KEY (campaign, data) REFERENCES sparingly_data_sets (campaign, name)
);

CREATE TABLE sparingly_asked (
  campaign TEXT NOT NULL,
  data TEXT NOT NULL,
  item TEXT NOT NULL,
  model TEXT NOT NULL,
  other TEXT NOT NULL,
  round INTEGER NOT NULL,
  place INTEGER NOT NULL,
  seq BIGINT NOT NULL,
  probability DOUBLE PRECISION,
  PRIMARY KEY (campaign, data, item, model, other),
  FOREIGN KEY (campaign, data, round) REFERENCES sparingly_rounds (campaign, data, number)
);

CREATE TABLE sparingly_raters (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  rater TEXT NOT NULL,
  seq BIGINT NOT NULL,
  PRIMARY KEY (campaign, rater)
);

CREATE TABLE sparingly_ratings (
  campaign TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at TEXT NOT NULL,
  data TEXT NOT NULL,
  round INTEGER NOT NULL,
  rater TEXT NOT NULL,
  item TEXT NOT NULL,
  model TEXT NOT NULL,
  other TEXT NOT NULL,
  aspect TEXT NOT NULL,
  client TEXT NOT NULL,
  revision INTEGER NOT NULL,
  corrects BIGINT,
  score DOUBLE PRECISION NOT NULL,
  seconds DOUBLE PRECISION,
  comment TEXT,
  digest TEXT NOT NULL,
  PRIMARY KEY (campaign, seq),
  UNIQUE (campaign, data, round, rater, item, model, other, aspect, client, revision),
  FOREIGN KEY (campaign, data, item, model, other)
    REFERENCES sparingly_asked (campaign, data, item, model, other),
  FOREIGN KEY (campaign, rater) REFERENCES sparingly_raters (campaign, rater)
);

CREATE TABLE sparingly_events (
  campaign TEXT NOT NULL REFERENCES sparingly_campaigns (name),
  seq BIGINT NOT NULL,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (campaign, seq)
);
