"""Web pages: where raters judge, and where the organiser sees what came of it."""

try:
    import fastapi
    import itsdangerous
    import jinja2
    import markdown_it
    import nh3
    import pydantic
    import uvicorn
except ModuleNotFoundError as error:
    from sparingly.base.errors import ExtraMissingError

    _NEEDED = ("fastapi", "itsdangerous", "jinja2", "markdown_it", "nh3", "pydantic", "uvicorn")
    if (error.name or "").partition(".")[0] not in _NEEDED:
        raise
    raise ExtraMissingError("A web page", "web") from None

__all__ = ["fastapi", "itsdangerous", "jinja2", "markdown_it", "nh3", "pydantic", "uvicorn"]
