"""From the judged items to scores of the whole set: estimators, their errors, intervals and bounds."""
