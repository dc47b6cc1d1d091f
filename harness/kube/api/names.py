"""Syntax of Kubernetes names: label keys, label values, DNS names, with apimachinery's sentences.

Each function returns the list of errors, empty when the text is good. Lengths are in bytes of UTF-8.
Source: apimachinery pkg/util/validation/validation.go, pkg/api/validate/content.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lazyrecords import dataclass

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_name = re.compile(_NAME)
_dns_label = re.compile(_DNS_LABEL)
_dns_subdomain = re.compile(_DNS_SUBDOMAIN)

NAME_LIMIT = 63
DNS_SUBDOMAIN_LIMIT = 253

_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_NAME})?')"
)
_DNS_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL}')"
)
_DNS_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_DNS_SUBDOMAIN}')"
)


@dataclass(frozen=True, slots=True)
class NameWording:
    """Differences between versions of apimachinery in the wording about metadata.

    They are the name of a label key with several slashes, the unit of lengths (the names of objects have kept the old
    one), and whether the sentence about an empty field of an owner reference names it.
    """

    label_key: str = "a valid label key"
    unit: str = "bytes"
    names_owner_fields: bool = False

    def too_long(self, limit: int) -> str:
        return f"must be no more than {limit} {self.unit}"


WORDING = NameWording()
"""Kubernetes 1.35 and later."""
OLD_WORDING = NameWording("a qualified name", "characters")
"""Kubernetes 1.34, and for labels and names all before it."""
OLDEST_WORDING = NameWording("a qualified name", "characters", names_owner_fields=True)
"""Up to Kubernetes 1.33."""


def label_namespace(key: str) -> str:
    """Return the part of a label key before the slash, "" when there is none."""
    namespace, slash, _ = key.partition("/")
    return namespace if slash else ""


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def path_segment_errors(text: str) -> list[str]:
    """Return the reasons why `text` is no segment of a path (apimachinery pkg/api/validate/content, IsPathSegmentName)."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{part}'" for part in ("/", "%") if part in text]


def dns_label_errors(text: str) -> list[str]:
    """Return the reasons why `text` is no lower-case RFC 1123 label."""
    errors = [OLD_WORDING.too_long(NAME_LIMIT)] if _bytes(text) > NAME_LIMIT else []
    if not _dns_label.fullmatch(text):
        errors.append("must not contain dots" if _dns_subdomain.fullmatch(text) else _DNS_LABEL_RULE)
    return errors


def dns_subdomain_errors(text: str, wording: NameWording = OLD_WORDING) -> list[str]:
    """Return the reasons why `text` is no lower-case RFC 1123 subdomain, the syntax of most object names."""
    errors = [wording.too_long(DNS_SUBDOMAIN_LIMIT)] if _bytes(text) > DNS_SUBDOMAIN_LIMIT else []
    if not _dns_subdomain.fullmatch(text):
        errors.append(_DNS_SUBDOMAIN_RULE)
    return errors


def qualified_name_errors(key: str, wording: NameWording = WORDING) -> list[str]:
    """Return the reasons why `key` is no label key."""
    return [] if is_qualified_name(key) else _qualified_name_errors(key, wording)


@lru_cache(maxsize=4096)
def is_qualified_name(key: str) -> bool:
    """Return whether `key` may be a label key."""
    return not _qualified_name_errors(key, WORDING)


def _qualified_name_errors(key: str, wording: NameWording) -> list[str]:
    errors: list[str] = []
    prefix, slash, name = key.partition("/")
    if "/" in name:
        return [
            f"{wording.label_key} {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    if not slash:
        name = prefix
    elif not prefix:
        errors.append("prefix part must be non-empty")
    else:
        errors.extend(f"prefix part {error}" for error in dns_subdomain_errors(prefix, wording))
    if not name:
        errors.append("name part must be non-empty")
    elif _bytes(name) > NAME_LIMIT:
        errors.append(f"name part {wording.too_long(NAME_LIMIT)}")
    if not _name.fullmatch(name):
        errors.append(f"name part {_NAME_RULE}")
    return errors


def label_value_errors(value: str, wording: NameWording = WORDING) -> list[str]:
    """Return the reasons why `value` is no label value."""
    return [] if is_label_value(value) else _label_value_errors(value, wording)


@lru_cache(maxsize=4096)
def is_label_value(value: str) -> bool:
    """Return whether `value` may be a label value."""
    return not _label_value_errors(value, WORDING)


def _label_value_errors(value: str, wording: NameWording) -> list[str]:
    if not value:
        return []
    errors = [wording.too_long(NAME_LIMIT)] if _bytes(value) > NAME_LIMIT else []
    if not _name.fullmatch(value):
        errors.append(_VALUE_RULE)
    return errors
