"""A result as one object of strict JSON."""

from __future__ import annotations

import json

from tacit.report.numbers import in_bits, unit_name
from tacit.report.words import PERSON_RESULTS
from tacit.workflows.person_results import PersonVerifyResult
from tacit.workflows.results import Result, plain


def to_json(result: Result, *, bits: bool = False) -> str:
    """The whole result as one JSON object, in the order of its fields.

    Parameters
    ----------
    result : Result
        What a workflow found.
    bits : bool
        Give information quantities in bits instead of nats; the key ``unit`` says which. Results
        about a person have neither.

    Returns
    -------
    str
        Strict JSON: infinity is ``"inf"`` or ``"-inf"``, and not-a-number null.
    """
    found = (in_bits(result) if bits else result).to_dict()
    if isinstance(result, PERSON_RESULTS):
        # A person's leakage is a share of a file: no nats, no bits. It is the answer, so it comes first.
        answer = {} if isinstance(result, PersonVerifyResult) else {"leakage": plain(result.leakage)}
        return json.dumps({"result": found.pop("result"), **answer, **found}, indent=2, allow_nan=False)
    return json.dumps({"result": found.pop("result"), "unit": unit_name(bits), **found}, indent=2, allow_nan=False)
