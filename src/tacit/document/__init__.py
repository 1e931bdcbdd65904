"""What a verb says before it is shown: sections, tables, charts and sentences made of typed quantities.

It knows nothing of media: :mod:`tacit.report` shows a document as terminal text, page, JSON or notebook cell.
"""

# ruff: noqa: F403  Every module lists its own names.

from tacit.document import badges, blocks, charts, leakage, posts, progress, quantities, strings
from tacit.document.badges import *
from tacit.document.blocks import *
from tacit.document.charts import *
from tacit.document.leakage import *
from tacit.document.posts import *
from tacit.document.progress import *
from tacit.document.quantities import *
from tacit.document.strings import *

__all__ = [
    *badges.__all__,
    *blocks.__all__,
    *charts.__all__,
    *leakage.__all__,
    *posts.__all__,
    *progress.__all__,
    *quantities.__all__,
    *strings.__all__,
]
