"""Read YAML files that people write and check them against a pydantic model.

Every fault names its file, its line and its fix.
"""

from __future__ import annotations

from bot.documents.environment_overlay import apply_environment
from bot.documents.fault import Fault, NestedFault, SourcePosition, show_control_characters
from bot.documents.json_file import read_json
from bot.documents.text_file import MAX_BYTES, read_text
from bot.documents.validation import combine_faults, read_document, validate
from bot.documents.yaml_tree import Tree, parse

__all__ = [
    "MAX_BYTES",
    "Fault",
    "NestedFault",
    "SourcePosition",
    "Tree",
    "apply_environment",
    "combine_faults",
    "parse",
    "read_document",
    "read_json",
    "read_text",
    "show_control_characters",
    "validate",
]
