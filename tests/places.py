"""Where things are, whatever folder a test stands in."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
