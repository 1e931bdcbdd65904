"""The owner's papers of a coded release: the code, who it was made from, and which unit stands where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tacit.codes.vectors.codebook import Codebook, CodeSpace
from tacit.codes.vectors.erasing import Erasure
from tacit.errors import SourceError
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.coded.coding import CodedRecords
from tacit.lenses.coded.parts import Parts
from tacit.lenses.coded.projecting import Projection
from tacit.loading import arrays_in
from tacit.release.directory import KEY, SALT, ReleaseDraft

CODE = "code.npz"
README = (
    "Only the owner may see this folder. Do not publish it.",
    f"{CODE} holds the code, which part it was made from, and which original each released one is;",
    f"{KEY} draws the codes again; {SALT} opens the fingerprint of the originals in certificate.json.",
)


def keep_code(draft: ReleaseDraft, records: CodedRecords, key: bytes, more: Mapping[str, Any]) -> None:
    """Write what it takes to make the release again from the originals; ``more`` is the lens's own."""
    book, erasure = records.proved.plan.book, records.proved.plan.book.space.erasure
    channel = records.proved.plan.channel
    np.savez_compressed(
        draft.private / CODE,
        design=records.parts.design,
        proving=records.parts.proving,
        apart=records.parts.apart,
        order=records.order,
        projection_mean=records.projection.mean,
        projection_axes=records.projection.axes,
        as_directions=np.array(records.projection.as_directions),
        erasure_mean=erasure.mean,
        erasure_read=erasure.read,
        erasure_write=erasure.write,
        use=book.space.use,
        centres=book.centres,
        code_of=book.code_of,
        channel=np.zeros((0, 0)) if channel is None else channel,
        **more,
    )
    draft.keep(KEY, key.hex() + "\n")


class KeptCode:
    """What ``protect`` kept of a code."""

    def __init__(self, private: Path) -> None:
        arrays = arrays_in(private / CODE, "code")
        try:
            self.arrays: dict[str, Any] = dict(arrays)
            self.parts = Parts(*(self.arrays[name].astype(bool) for name in ("design", "proving", "apart")))
            self.projection = Projection(
                self._floats("projection_mean"), self._floats("projection_axes"), bool(self.arrays["as_directions"])
            )
            erasure = Erasure(self._floats("erasure_mean"), self._floats("erasure_read"), self._floats("erasure_write"))
            space = CodeSpace(erasure, self._floats("use"))
            self.book = Codebook(space, self._floats("centres"), self.arrays["code_of"].astype(np.int64))
            channel = self._floats("channel")
            self.channel: Floats | None = channel if channel.size else None
            self.order: Codes = self.arrays["order"].astype(np.int64)
        except (KeyError, ValueError, IndexError, AttributeError, TypeError) as error:
            raise SourceError(f"{private / CODE} is damaged: it should hold what protect wrote") from error

    def _floats(self, name: str) -> Floats:
        return np.asarray(self.arrays[name], dtype=np.float64)
