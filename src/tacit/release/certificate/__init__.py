"""Certificates: what is claimed about a release, and what the claim rests on. One type for each kind of claim.

One strict codec reads every certificate: it is complete and of its kind, or it is refused. What must hold between its
numbers is checked where it is made.
"""

from __future__ import annotations

from tacit.release.certificate.coded import CodedCertificate as CodedCertificate
from tacit.release.certificate.counted import (
    BY_RULES as BY_RULES,
    IN_CELLS as IN_CELLS,
    MIXTURE as MIXTURE,
    NOT_MADE_AGAIN as NOT_MADE_AGAIN,
    ComposedSecret as ComposedSecret,
    CountedCertificate as CountedCertificate,
    CountedMechanism as CountedMechanism,
    FurtherClaim as FurtherClaim,
    LedgerComposition as LedgerComposition,
    MeasureChange as MeasureChange,
    Reading as Reading,
    Replacement as Replacement,
    SampleProof as SampleProof,
    Utility as Utility,
)
from tacit.release.certificate.media import (
    Grid as Grid,
    HeatMap as HeatMap,
    ImageCertificate as ImageCertificate,
    PatchDelta as PatchDelta,
    TextCertificate as TextCertificate,
)
from tacit.release.certificate.parts import (
    CERTIFICATE as CERTIFICATE,
    AdversaryScore as AdversaryScore,
    Certificate as Certificate,
    CertifiedInput as CertifiedInput,
    CertifiedOutput as CertifiedOutput,
    CertifiedPart as CertifiedPart,
    best_guesses as best_guesses,
    fingerprint_of_parts as fingerprint_of_parts,
)
from tacit.release.certificate.reading import (
    AnyCertificate as AnyCertificate,
    certificate_from as certificate_from,
    read_certificate as read_certificate,
)
