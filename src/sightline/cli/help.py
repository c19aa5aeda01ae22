"""Layout of `--help`: reflowed paragraphs that start with a capital letter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions


def tidy(text: str) -> str:
    r"""Join the lines of each paragraph and start the text with a capital letter.

    >>> tidy("random seed of the\nworlds; default: 0.")
    'Random seed of the worlds. Default: 0.'
    """
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))
    joined = re.sub(r"; default: ", ". Default: ", "\n\n".join(paragraphs))
    return joined[:1].upper() + joined[1:]


class TidyHelp:
    """Print help like cyclopts does by default, after `tidy` of every description."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print one panel of commands or parameters."""
        entries = [entry.copy(description=_tidy(entry.description)) for entry in panel.entries]
        self.print_panel(console, options, panel.copy(entries=entries))

    def print_panel(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print one panel whose descriptions are tidy."""
        from cyclopts.help import DefaultFormatter

        DefaultFormatter()(console, options, panel)

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """Print the usage line."""
        from cyclopts.help import DefaultFormatter

        DefaultFormatter().render_usage(console, options, usage)

    def render_description(self, console: Console, _options: ConsoleOptions, text: Any) -> None:
        """Print the description of a command."""
        if text:
            console.print(_tidy(text))


def _tidy(description: Any) -> Any:
    """Tidy the text of a description of cyclopts; others, such as tables, stay as they are."""
    from cyclopts.help import InlineText
    from rich.text import Text

    if isinstance(description, InlineText) and isinstance(description.primary_renderable, Text):
        tidied = InlineText(
            Text(tidy(description.primary_renderable.plain)),
            force_empty_end=description.force_empty_end,
        )
        tidied.texts = description.texts
        return tidied
    return description
