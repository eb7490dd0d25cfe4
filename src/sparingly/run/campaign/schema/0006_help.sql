-- Whether a suggestion was shown with an answer (1, 0), and the probability that it would be; null where there
-- was none to show. Scores without help are estimated from it.

ALTER TABLE sparingly_placements ADD COLUMN helped INTEGER;

ALTER TABLE sparingly_placements ADD COLUMN help_probability DOUBLE PRECISION;
