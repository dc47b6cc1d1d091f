"""An example of each command, for the end of its `--help`."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES"]

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "run": ("harness run scenarios/", "harness run web.yaml --html page.html"),
    "labels": ("harness labels --release 1.14.0", "harness labels explain kubernetes.azure.com/mode"),
    "requirements": ("harness requirements --size Standard_D4s_v5 --region westeurope",),
    "explain": ("harness explain pools.yaml pods.yaml", "harness explain --context prod --pod shop/web"),
    "simulate": ("harness simulate manifests/ --html page.html", "harness simulate dump.yaml --until 24h"),
    "capture": ("harness capture --context prod --pod shop/web --anonymise -o case.yaml",),
    "reality": ("harness reality dump.yaml", "harness reality --context prod --facts facts.yaml"),
    "migrate": ("harness migrate cluster.json dump.yaml -o nap/",),
    "sweep": ("harness sweep plan.yaml --regions eastus,westeurope --html sweep.html",),
    "shrink": ("harness shrink case.yaml --keep pending -o small.yaml",),
    "compare": ("harness compare manifests/ --release 1.13.1,1.14.0", "harness compare before/ after/"),
    "watch": ("harness watch web.yaml",),
    "validate": ("harness validate pools/ --release 1.14.0",),
    "upgrade-check": ("harness upgrade-check --from 1.13.1 --to 1.14.0 pools/ pods.yaml",),
    "ci-matrix": ("harness dev ci-matrix --cluster kind --shards 4",),
    "defaults": ("harness defaults",),
    "options": ("harness options --release 1.14.0",),
    "attach": ("harness attach --context test --expect web.yaml --dry-run",),
    "launch": ("harness launch ./controller",),
    "schema": ("harness schema > scenario.schema.json", "harness schema --kind NodePool --release 1.14.0"),
    "doctor": ("harness doctor",),
    "completion": ("harness completion bash > ~/.local/share/bash-completion/completions/harness",),
    "answer": ("harness dev answer --release 1.14.0 < questions.jsonl",),
}
"""Command → examples; those after `>` and `<` are the shell's."""
