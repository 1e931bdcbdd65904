"""A document as terminal text, one self-contained page, JSON or a notebook cell. It knows nothing else.

Rich and Jinja load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.report.json import plain as plain, to_json as to_json
    from tacit.report.notebook import fragment as fragment
    from tacit.report.page import to_html as to_html, write_report as write_report
    from tacit.report.result import Result as Result
    from tacit.report.terminal import show as show, to_text as to_text
else:
    __getattr__, __dir__, __all__ = face(__name__)
