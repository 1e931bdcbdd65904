"""Codes: records become cells. Scales say which levels a column may be told at. Engines load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.codes.scales.encoding import atoms_table as atoms_table
    from tacit.codes.scales.finding import find_scales as find_scales
    from tacit.codes.scales.fitting import fitted_scales as fitted_scales
    from tacit.codes.scales.kinds.categories import CategoryScale as CategoryScale
    from tacit.codes.scales.kinds.dates import DateScale as DateScale
    from tacit.codes.scales.kinds.every import AnyScale as AnyScale
    from tacit.codes.scales.kinds.hierarchies import HierarchyScale as HierarchyScale
    from tacit.codes.scales.kinds.lists import ListScale as ListScale
    from tacit.codes.scales.kinds.numbers import NumberScale as NumberScale
    from tacit.codes.scales.kinds.prefixes import PrefixScale as PrefixScale
    from tacit.codes.scales.kinds.whole import WholeScale as WholeScale
    from tacit.codes.scales.scale import Scale as Scale, ScaleLevel as ScaleLevel
    from tacit.codes.transformer import Cells as Cells

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
