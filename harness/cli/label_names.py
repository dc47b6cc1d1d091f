"""Label keys on the command line: what cannot be a key, and what looks like a typing error. Any other key can be tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.karpenter.labels import azure, core
from harness.kube.api.names import qualified_name_errors
from harness.wording import did_you_mean

__all__ = ["key_mistakes"]

_NAME_ALIKE = 0.7  # `mdoe` is like `mode`; within a domain names are short
_DOMAIN_ALIKE = 0.85
_OWN = frozenset({core.GROUP, azure.GROUP, azure.AKS_DOMAIN})
"""Domains in which users name no keys: a name that another of them has stands in the wrong one."""
_CLOSED = _OWN | {"kubernetes.io"}


def key_mistakes(
    keys: Sequence[str], keys_known: Iterable[str], *, questions: Iterable[str] = (), as_written: bool = False
) -> Iterator[str]:
    """A line for each word that is no label key, or that is nearly a key or a question that is known; the latter not `as_written`."""
    listed = set(keys_known)
    for number, key in enumerate(keys):
        errors = qualified_name_errors(key)
        if errors:
            yield f"'{key}' is no label key: {errors[0]}"
        elif key in listed or as_written:
            continue
        elif number == 0 and (hint := did_you_mean(key, questions, limit=0)):
            yield f"unknown key '{key}'; {hint}"
        elif meant := _meant(key, listed):
            yield f"unknown key '{key}'; did you mean '{meant}'? (--as-written tries it all the same)"


def _meant(key: str, keys_known: Iterable[str]) -> str:
    """The known key of the same domain with a like name, or of a like domain with the same name; else, of a key of Karpenter's or AKS's
    domains, one of another of them with a like name. A name that one domain of Kubernetes, Karpenter or AKS has means the same in all.
    """
    from difflib import SequenceMatcher  # only a key that nobody knows needs it

    domain, _, name = key.rpartition("/")
    best = ("", (False, False, 0.0))
    for other in sorted(keys_known):
        its_domain, _, its_name = other.rpartition("/")
        own = its_domain != domain and {domain, its_domain} <= _OWN
        if its_domain == domain or own:
            likeness, enough = SequenceMatcher(None, name, its_name).ratio(), _NAME_ALIKE
        elif its_name == name and domain:
            likeness = SequenceMatcher(None, domain, its_domain).ratio()
            enough = 0.0 if domain in _CLOSED and _of_kubernetes(its_domain) else _DOMAIN_ALIKE
        else:
            continue
        rank = (not own, "beta." not in its_domain, likeness)
        if likeness >= enough and rank > best[1]:
            best = other, rank
    return best[0]


def _of_kubernetes(domain: str) -> bool:
    return domain in _OWN or domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
