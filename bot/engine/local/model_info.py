"""Describes a loaded model: its prompt format, its dialect, and warnings about both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.engine.chat_template import ChatTemplate
from bot.engine.protocol import Dialect, EngineInfo, Sampling

if TYPE_CHECKING:
    from bot.engine.local.local_options import LocalOptions
    from bot.engine.local.worker_messages import Ready
    from bot.weights.find_model import ModelSource

_PLAIN_PARAMETERS: Final = 3 * 10**9
"""Weights from which a model follows HER's structure when it is described to it. Qwen3's 4B does,
and its 1.7B does not."""


def build_info(ready: Ready, options: LocalOptions, source: ModelSource) -> EngineInfo:
    """Return the info of a model that a worker has loaded.

    A model without ChatML's control tokens gets its own chat template. If the catalogue does not
    know it, it was not trained on HER's layout.
    """
    template = None
    warnings = [ready.warning] if ready.warning else []
    if not ready.has_chatml:
        special = {"bos": ready.bos, "eos": ready.eos}
        template = ChatTemplate.load(ready.chat_template, **special)
        template = template or ChatTemplate.load_fallback(ready.family_control, **special)
        if template is None:
            warnings.append(
                f"{ready.model} has neither ChatML's control tokens nor a usable chat template. "
                "Expect poor replies."
            )
    is_foreign = not ready.has_chatml and source.title is None
    return EngineInfo(
        kind="local",
        model=ready.model,
        dialect=options.dialect or _choose_dialect(ready, source, is_foreign=is_foreign),
        requirements=options.requirements or source.requirements,
        context=ready.context,
        device=ready.device,
        layers_offloaded=ready.layers_offloaded,
        layers=ready.layers,
        minds=ready.minds,
        memory=ready.memory,
        warning=" ".join(warnings) or None,
        stand_in=source.stand_in or is_foreign,
        sampling=options.sampling.apply_to(Sampling(**source.sampling.model_dump())),
        supports_grammar=True,
        prompt_format=template,
    )


def _choose_dialect(ready: Ready, source: ModelSource, *, is_foreign: bool) -> Dialect:
    if not is_foreign:
        return Dialect(source.dialect)
    return Dialect.PLAIN if ready.parameters >= _PLAIN_PARAMETERS else Dialect.STAND_IN
