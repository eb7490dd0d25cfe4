"""Campaigns: live evaluations, each stored in one database so that nothing is lost.

A campaign is a journal: every answer, round and change of the models is a numbered entry, and no entry is
ever changed. What was known at any number can be read again, and so can what followed from it.
"""

try:
    import sqlalchemy
except ModuleNotFoundError as error:
    from sparingly.base.errors import ExtraMissingError

    if (error.name or "").partition(".")[0] != "sqlalchemy":
        raise
    raise ExtraMissingError("A campaign", "campaign") from None

__all__ = ["sqlalchemy"]
