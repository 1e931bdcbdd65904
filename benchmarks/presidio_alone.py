"""What Presidio finds in the values of columns; for comparison.py, in a process and with packages of its own.

    PYTHONPATH=benchmarks/data/presidio python benchmarks/presidio_alone.py columns.json

Read is {column: {value: people}}, printed {column: [[what, people], ...]}. Without a language model, which is not in
package registries: what Presidio knows by patterns and check digits (cards, e-mail, telephones, IBAN, ...), no names of
people or places.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from pathlib import Path
from typing import Any


def analyzer_without_model() -> Any:
    """Presidio with its own recognisers and a spaCy that splits words and no more."""
    import spacy
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    engine = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    engine.nlp = {"en": spacy.blank("en")}
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    assert analyzer.analyze("mail ann@example.org", language="en"), "it finds nothing at all"
    return analyzer


def main(columns: Path) -> None:
    # It tries to fetch a list of domain names, and goes on without.
    logging.disable(logging.CRITICAL)
    analyzer, seen = analyzer_without_model(), {}
    for column, values in json.loads(columns.read_text("utf-8")).items():
        people: Counter[str] = Counter()
        for value, count in values.items():
            for kind in {result.entity_type for result in analyzer.analyze(value, language="en")}:
                people[kind] += count
        seen[column] = people.most_common()
    print(json.dumps(seen))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        print(__doc__)
