"""Functions of template expressions on text: padding, URIs, encodings, dates.

Names and rules: learn.microsoft.com, "String functions", "Date functions for ARM templates".
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, unquote, urljoin

from fakeazure.arm import relaxed_json
from fakeazure.resources.deployments.template_functions import NESTING, Function, text_of, wrong
from fakeazure.resources.deployments.template_values import Budget, TemplateError

_DURATION = re.compile(
    r"(?P<sign>-?)P(?:(?P<years>\d{1,6})Y)?(?:(?P<months>\d{1,6})M)?(?:(?P<weeks>\d{1,6})W)?(?:(?P<days>\d{1,6})D)?"
    r"(?:T(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,6})S)?)?",
    re.ASCII,
)
_PARTS: Mapping[str, str] = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dddd": "%A", "ddd": "%a", "dd": "%d",
    "HH": "%H", "hh": "%I", "mm": "%M", "ss": "%S", "tt": "%p", "fff": "%f",
}  # fmt: skip
_SHORT: Mapping[str, str] = {"M": "%m", "d": "%d", "H": "%H", "h": "%I", "m": "%M", "s": "%S"}
"""Numbers without a leading zero."""
_FORMAT = re.compile("|".join(("'[^']*'", *sorted(_PARTS, key=len, reverse=True), *_SHORT)))
_STANDARD: Mapping[str, str] = {
    "d": "MM/dd/yyyy", "D": "dddd, dd MMMM yyyy", "s": "yyyy-MM-ddTHH:mm:ss", "u": "yyyy-MM-dd HH:mm:ssZ",
    "o": "yyyy-MM-ddTHH:mm:ss.0000000Z", "t": "HH:mm", "T": "HH:mm:ss", "R": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "f": "dddd, dd MMMM yyyy HH:mm", "F": "dddd, dd MMMM yyyy HH:mm:ss", "g": "MM/dd/yyyy HH:mm", "G": "MM/dd/yyyy HH:mm:ss",
    "M": "MMMM dd", "Y": "yyyy MMMM",
}  # fmt: skip
"""Standard formats of .NET, as they read in its invariant culture."""


def shown_date(moment: datetime, pattern: str = "yyyyMMddTHHmmssZ") -> str:
    """A moment in one of .NET's formats; that of `utcNow` where none is given."""
    pattern = _STANDARD.get(pattern, pattern)
    return _FORMAT.sub(lambda match: _shown_part(moment, match[0]), pattern)


def _shown_part(moment: datetime, part: str) -> str:
    if part.startswith("'"):
        return part[1:-1]
    if part in _SHORT:
        return moment.strftime(_SHORT[part]).removeprefix("0") or "0"
    shown = moment.strftime(_PARTS[part])
    return shown[:3] if part == "fff" else shown


def _moment(name: str, text: str) -> datetime:
    try:
        if re.fullmatch(r"\d{8}T\d{6}Z", text, re.ASCII):
            return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise wrong(name, "expects its parameter to be a date and time") from None
    return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _date_add(base: str, duration: str, pattern: str = "") -> str:
    moment, match = _moment("dateTimeAdd", base), _DURATION.fullmatch(duration)
    if match is None:
        raise wrong("dateTimeAdd", "expects its second parameter to be a duration of ISO 8601")
    number = {name: int(value or 0) for name, value in match.groupdict().items() if name != "sign"}
    sign = -1 if match["sign"] else 1
    try:
        months = moment.year * 12 + moment.month - 1 + sign * (number["years"] * 12 + number["months"])
        year, month = months // 12, months % 12 + 1
        moment = moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))
        days = {name: number[name] for name in ("weeks", "days", "hours", "minutes", "seconds")}
        moment += sign * timedelta(**days)
    except (ValueError, OverflowError):
        raise wrong("dateTimeAdd", "comes to a date that there is not") from None
    return shown_date(moment, pattern) if pattern else shown_date(moment, "s") + "Z"


def _from_epoch(seconds: int) -> str:
    try:
        return shown_date(datetime.fromtimestamp(seconds, UTC), "s") + "Z"
    except (ValueError, OverflowError, OSError):
        raise wrong("dateTimeFromEpoch", "comes to a date that there is not") from None


def _pad_left(budget: Budget, value: Any, length: int, mark: str = " ") -> str:
    text = text_of(budget, value)
    if not 0 <= length <= 16 or len(mark) != 1:
        raise wrong("padLeft", "expects a length of 16 at most, and one character")
    return text.rjust(length, mark)


def _uri(base: str, relative: str) -> str:
    return urljoin(base, relative)


def _base64_json(value: str) -> Any:
    try:
        return relaxed_json.value(base64.b64decode(value, validate=True), NESTING)
    except (binascii.Error, ValueError, RecursionError):
        raise wrong("base64ToJson", "expects its parameter to be base64 of JSON") from None


def _data_uri(value: str) -> str:
    return f"data:text/plain;charset=utf8;base64,{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}"


def _from_data_uri(value: str) -> str:
    head, mark, rest = value.partition(",")
    try:
        if not head.startswith("data:") or not mark:
            raise ValueError(value)
        return base64.b64decode(rest, validate=True).decode() if head.endswith("base64") else unquote(rest)
    except (binascii.Error, ValueError):
        raise wrong("dataUriToString", "expects its parameter to be a data URI") from None


def _float(value: Any) -> float:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = math.inf
    if not math.isfinite(number):  # JSON has none that is not
        raise wrong("float", "expects a string that is a number")
    return number


def _fail(message: str) -> Any:
    raise TemplateError(message[:1000])


TEXTS: Mapping[str, Function] = {
    "padLeft": Function("si i s?", _pad_left, thrifty=True),
    "uri": Function("s s", _uri),
    "uriComponent": Function("s", lambda value: quote(value.encode("utf-8", "surrogatepass"), safe="")),
    "uriComponentToString": Function("s", unquote),
    "base64ToJson": Function("s", _base64_json),
    "dataUri": Function("s", _data_uri),
    "dataUriToString": Function("s", _from_data_uri),
    "dateTimeAdd": Function("s s s?", _date_add),
    "dateTimeFromEpoch": Function("i", _from_epoch),
    "dateTimeToEpoch": Function("s", lambda text: int(_moment("dateTimeToEpoch", text).timestamp())),
    "fail": Function("s", _fail),
    "float": Function("si", _float),
}
"""Functions by name."""
