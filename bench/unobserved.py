"""A worker without logs and metrics of messages: what `observing.py` compares with.

python -m bench.unobserved worker --child COMPONENT …
"""

from __future__ import annotations

import docproc.app
from docproc.cli.start import main
from docproc.engine.running.middleware.logs import Logs
from docproc.engine.running.middleware.metrics import Metrics

_all = docproc.app.load_middleware
docproc.app.load_middleware = lambda: [one for one in _all() if one not in (Logs, Metrics)]

if __name__ == "__main__":
    main("python -m bench.unobserved")
