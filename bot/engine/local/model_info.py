"""Describes a loaded model: its prompt format, its dialect, and warnings about both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.engine.protocol import Dialect, EngineInfo, Sampling

if TYPE_CHECKING:
    from bot.engine.local.local_options import LocalOptions
    from bot.engine.local.model_traits import ModelTraits
    from bot.engine.local.worker_messages import Ready
    from bot.weights.find_model import ModelSource


def build_info(ready: Ready, options: LocalOptions, source: ModelSource) -> EngineInfo:
    """Return the info of a model that a worker has loaded.

    A model without ChatML's control tokens gets its own chat template. If the catalogue does not
    know it, it was not trained on HER's layout.
    """
    traits = ready.traits
    template = traits.choose_template()
    warnings = [ready.warning] if ready.warning else []
    if not traits.has_chatml and template is None:
        warnings.append(
            f"{ready.model} has neither ChatML's control tokens nor a usable chat template. "
            "Expect poor replies."
        )
    is_foreign = not traits.has_chatml and source.title is None
    return EngineInfo(
        kind="local",
        model=ready.model,
        dialect=options.dialect or choose_dialect(traits, source),
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


def choose_dialect(traits: ModelTraits, source: ModelSource) -> Dialect:
    """Return the catalogue's dialect for a model, or what its traits suggest."""
    return Dialect(source.dialect) if source.title is not None else traits.choose_dialect()
