"""The release: its directory, its certificate with one strict codec, its claims in words, checks, rules and ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.release.bounds import (
        Attained as Attained,
        FurtherSecret as FurtherSecret,
        LiftBounds as LiftBounds,
        asked_bounds as asked_bounds,
        checked_epsilon as checked_epsilon,
        further_secrets as further_secrets,
    )
    from tacit.release.certificate import (
        AdversaryScore as AdversaryScore,
        Certificate as Certificate,
        CountedCertificate as CountedCertificate,
        HeatMap as HeatMap,
        ImageCertificate as ImageCertificate,
        LedgerComposition as LedgerComposition,
        MeasureChange as MeasureChange,
        PatchDelta as PatchDelta,
        Reading as Reading,
        TextCertificate as TextCertificate,
        Utility as Utility,
        certificate_from as certificate_from,
        read_certificate as read_certificate,
    )
    from tacit.release.channel import ColumnChannel as ColumnChannel, PublishedChannel as PublishedChannel
    from tacit.release.checks import Check as Check, CheckedRelease as CheckedRelease, checked as checked
    from tacit.release.claims import (
        assumptions_in_words as assumptions_in_words,
        claim_in_words as claim_in_words,
        population_sentence as population_sentence,
        readings_of as readings_of,
        worded as worded,
    )
    from tacit.release.codec import Damaged as Damaged, decoded as decoded, encoded as encoded, text_of as text_of
    from tacit.release.directory import (
        ReleaseDraft as ReleaseDraft,
        new_release as new_release,
        refuse_target as refuse_target,
        whole_directory as whole_directory,
    )
    from tacit.release.flows import channel_of as channel_of
    from tacit.release.keys import files_sha256 as files_sha256, salted as salted
    from tacit.release.rules import ReleaseRules as ReleaseRules
    from tacit.release.treatment import Merging as Merging, Mixing as Mixing, Treatment as Treatment
    from tacit.release.whole_file import WholeFile as WholeFile

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
