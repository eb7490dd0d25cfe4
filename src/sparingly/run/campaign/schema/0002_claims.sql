-- What a judge that is called (a language model, say) has been asked and not answered yet: two callers never
-- pay for the same answer, and every call is counted before it is made. Nothing of an evaluation is in here.

CREATE TABLE sparingly_claims (
  campaign TEXT NOT NULL,
  data TEXT NOT NULL,
  item TEXT NOT NULL,
  model TEXT NOT NULL,
  other TEXT NOT NULL,
  rater TEXT NOT NULL,
  holder TEXT NOT NULL,
  until TEXT NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (campaign, data, item, model, other, rater),
  FOREIGN KEY (campaign, data, item, model, other)
    REFERENCES sparingly_asked (campaign, data, item, model, other)
);

-- Answers by what they are about, for counting what is still to be judged.
CREATE INDEX sparingly_ratings_by_cell
  ON sparingly_ratings (campaign, data, item, model, other, aspect);
