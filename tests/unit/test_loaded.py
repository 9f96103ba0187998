"""What the loaded applications say together."""

from __future__ import annotations

from docproc.application import Application
from docproc.loaded import Applications


async def well(app: object) -> str | None:
    return None


async def ill(app: object) -> str | None:
    return f"{app} has no scales"


async def test_first_problem_of_an_application_is_told_with_its_name() -> None:
    quiet, fine = Application("quiet"), Application("fine", health=f"{__name__}:well")
    broken = Application("broken", health=f"{__name__}:ill")
    assert await Applications([quiet, fine]).problem("this") is None
    assert await Applications([quiet, fine, broken]).problem("this") == "broken: this has no scales"
