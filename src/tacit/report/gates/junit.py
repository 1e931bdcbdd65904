"""JUnit's XML, which most build servers show as tests: a suite for each source, a test for each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from tacit.errors import PLAIN, Sentence, Wording
from tacit.release.policy.lines import CheckedSource, PolicyCheck

# Characters that no XML may hold, however they are written.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(sources: Sequence[CheckedSource], *, wording: Wording = PLAIN) -> str:
    """The lines of every source as JUnit's XML; a line that could not be checked is a failure, a source an error."""
    root = ElementTree.Element("testsuites", _attributes(name="tacit check", **_counted(sources)))
    for source in sources:
        named = _attributes(name=source.source, **_counted([source]), skipped=0)
        suite = ElementTree.SubElement(root, "testsuite", named)
        for line in source.checks:
            _test(suite, source, line, wording)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _counted(sources: Sequence[CheckedSource]) -> dict[str, int]:
    errors = sum(each.error is not None for each in sources)
    failures = sum(len(each.failed) for each in sources) - errors
    return {"tests": sum(len(each.checks) for each in sources), "failures": failures, "errors": errors}


def _test(suite: ElementTree.Element, source: CheckedSource, line: PolicyCheck, wording: Wording) -> None:
    named = _attributes(classname=f"{source.source}.{line.rule}", name=line.name)
    test = ElementTree.SubElement(suite, "testcase", named)
    if not line.passed:
        kind = "not checked" if line.passed is None else "failed"
        message = _text(in_words(line, wording))
        element = "error" if line.rule == "source" else "failure"
        ElementTree.SubElement(test, element, _attributes(type=kind, message=message)).text = message


def in_words(line: PolicyCheck, wording: Wording) -> str:
    """What a line found, in the reader's wording."""
    return line.detail.told(wording) if isinstance(line.detail, Sentence) else line.detail


def _attributes(**values: object) -> dict[str, str]:
    return {name: _text(str(value)) for name, value in values.items()}


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
