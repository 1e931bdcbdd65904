"""SARIF 2.1.0, which GitHub and others show as findings in a file: a result for each line that did not pass."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tacit import __version__
from tacit.errors import PLAIN, Wording
from tacit.release.certificate import CERTIFICATE
from tacit.release.policy.lines import RULES, CheckedSource, PolicyCheck
from tacit.report.gates.junit import in_words

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(sources: Sequence[CheckedSource], *, wording: Wording = PLAIN) -> str:
    """The lines that did not pass as one SARIF log; a rule is a part of the policy."""
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": "error"}}
        for name, text in RULES.items()
    ]
    results = [_result(source, line, wording) for source in sources for line in source.failed]
    run = {
        "tool": {"driver": {"name": "Tacit", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": all(source.error is None for source in sources)}],
        "artifacts": [{"location": {"uri": _uri(source)}} for source in sources],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(source: CheckedSource, line: PolicyCheck, wording: Wording) -> dict[str, Any]:
    named = f"{source.source}\n{line.rule}\n{line.name}".encode("utf-8", "replace")
    place = {"physicalLocation": {"artifactLocation": {"uri": _uri(source)}, "region": {"startLine": 1}}}
    return {
        "ruleId": line.rule,
        "ruleIndex": list(RULES).index(line.rule),
        "level": "error",
        "message": {"text": f"{line.name}: {in_words(line, wording)}"},
        "locations": [place],
        # The same finding keeps its fingerprint from run to run, so it is shown once.
        "partialFingerprints": {"tacit/v1": hashlib.sha256(named).hexdigest()[:32]},
    }


def _uri(source: CheckedSource) -> str:
    """The file that a finding is shown in: a path inside the working directory is written relative to it."""
    path = Path(source.source.partition("::")[0])
    path = path / CERTIFICATE if source.kind == "release" else path
    try:
        inside = path.resolve().relative_to(Path.cwd().resolve())
    except (ValueError, OSError):
        return quote(path.as_posix()) if not path.is_absolute() else path.as_uri()
    return quote(inside.as_posix())
