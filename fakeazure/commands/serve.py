"""Serve a world of Azure over HTTP and HTTPS until interrupted, for a real controller, SDKs or the az CLI.

Tokens are on the HTTP port (`/msi/token`) and on the HTTPS port; everything else of ARM is on both. Prints the environment that
points karpenter-provider-azure at it, with the secret that changes to the cloud's own paths need, and that a token is given for.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from fakeazure.arm.throttling import REAL_BUCKETS
from fakeazure.catalog import Catalogue
from fakeazure.catalog.errors import CatalogueError
from fakeazure.cloud import FakeAzure
from fakeazure.commands.controller_environment import DESCRIPTION, MODES, check_description, controller_variables
from fakeazure.commands.keeping import Keeper
from fakeazure.commands.market_file import read_market
from fakeazure.commands.outputs import check_output
from fakeazure.commands.table import add_as_of, add_skus_file, catalogue_with
from fakeazure.commands.values import host_and_port, named, positive, text_of, whole
from fakeazure.journal import Journal
from fakeazure.timing import INSTANT
from fakeazure.transports.guard import VARIABLE, Guard, exposure, new_secret
from fakeazure.transports.live import Pump, WallClock, wall_time
from fakeazure.transports.memory import few_arenas
from fakeazure.transports.pki import PkiError, make_pki
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from plainlines import print_line

ENVIRONMENT = 3
JOURNAL_BYTES = 32 * 1024 * 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `serve`."""
    _add_world(parser)
    _add_listening(parser)
    _add_environment(parser)
    _add_behaviour(parser)


def _add_world(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments about the world."""
    parser.add_argument("--region", default="eastus", help="the cluster's region (default: eastus)")
    parser.add_argument(
        "--market", type=Path, metavar="FILE", help="JSON or YAML: quota, restrictions, capacity, faults, prices"
    )
    add_skus_file(parser)
    add_as_of(parser)
    parser.add_argument(
        "--sku-regions",
        type=named,
        metavar="REGION,...",
        help="whose SKUs a list without a filter has, as `az vm list-skus` asks for (default: --region); all: Azure's 55,000",
    )
    parser.add_argument(
        "--kubeconfig", type=Path, help="what the cluster's credentials are: the kubeconfig of a real one"
    )
    parser.add_argument("--seed", type=int, default=0, help="of ids and of faults that come by chance (default: 0)")


def _add_listening(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments about its addresses."""
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen on (default: 127.0.0.1); any other is reached from other machines",
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another name by which it is reached, as a container's; may be given again. Other names are refused",
    )
    parser.add_argument(
        "--http-port", type=whole(0, 65535), default=8080, help="tokens and plain HTTP; 0 takes a free one"
    )
    parser.add_argument(
        "--https-port", type=whole(-1, 65535), default=8443, help="ARM; 0 takes a free one; -1 serves no HTTPS"
    )
    parser.add_argument(
        "--state", type=Path, default=Path(".fakeazure"), help="directory for certificates and cloud.json"
    )


def _add_environment(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that point a controller at it."""
    parser.add_argument(
        "--mode",
        choices=MODES,
        default=MODES[0],
        help="provision mode of the printed environment (default: %(default)s)",
    )
    parser.add_argument(
        "--api-server",
        type=host_and_port,
        default="127.0.0.1:6443",
        metavar="HOST:PORT",
        help="the cluster's, for the printed environment (default: %(default)s)",
    )
    parser.add_argument("--format", choices=("shell", "json"), default="shell", help="how the environment is printed")


def _add_behaviour(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments about its behaviour, and for how long."""
    parser.add_argument(
        "--retry-after",
        type=whole(-1, 24 * 3600),
        default=1,
        metavar="SECONDS",
        help="what polls of long operations are told to wait; az polls every 30 s without; -1: leave it out (default: 1)",
    )
    parser.add_argument("--speed", type=positive, default=1.0, help="how many times as fast the cloud's clock runs")
    parser.add_argument("--instant", action="store_true", help="long-running operations are over at once")
    parser.add_argument("--throttle", action="store_true", help="answer 429 where ARM's limits on requests would")
    parser.add_argument(
        "--no-auth", action="store_true", help="take requests without a token, or with any, and any secret for one"
    )
    parser.add_argument(
        "--journal", type=whole(0, 10_000_000), default=10_000, help="how many calls are kept (default: 10000)"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="take out what was saved there, and save the world while it is served and at the end, operations under way too",
    )
    parser.add_argument("--print-calls", action="store_true", help="print every call, on the standard error output")
    parser.add_argument("--for", dest="seconds", type=positive, help="stop after so many seconds")


def run(options: argparse.Namespace) -> int:
    """Serves until SIGINT or SIGTERM; exit code 0, 2 for bad input, 3 if a port or openssl is missing or the world cannot be saved."""
    check_output("--state", options.state / DESCRIPTION, [options.market, options.skus, options.kubeconfig])
    if options.https_port >= 0:
        check_description(options.state)
    few_arenas()
    clock, catalogue = WallClock(options.speed), catalogue_with(options.skus, options.region, options.as_of)
    market = {} if options.market is None else read_market(options.market, catalogue, options.region)
    kubeconfig = None if options.kubeconfig is None else text_of(options.kubeconfig)
    try:
        cloud = FakeAzure(
            region=options.region,
            catalogue=catalogue,
            sku_regions=None if options.sku_regions is None else _regions(options.sku_regions, catalogue),
            clock=clock,
            seed_value=options.seed,
            retry_after=None if options.retry_after < 0 else options.retry_after,
            azure=market,
            timing=INSTANT if options.instant else None,
            throttle=REAL_BUCKETS if options.throttle else None,
            journal=Journal(most=options.journal, most_bytes=JOURNAL_BYTES),
        )
    except ValueError as error:
        raise CatalogueError(str(error)) from None
    names = frozenset(name.lower().removesuffix(".") for name in (options.host, *options.allowed_host))
    front = Front(cloud, authenticate=not options.no_auth, guard=Guard(new_secret(), names))
    with contextlib.ExitStack() as stack:
        keeper = None if options.keep is None else _kept(front, options.keep, stack)
        if kubeconfig is not None:  # of the cluster that is there now, not of that when the world was saved
            cloud.attach_kubeconfig(kubeconfig)
        try:
            plain = stack.enter_context(HttpServer(front, host=options.host, port=options.http_port))
            secure = None
            if options.https_port >= 0:
                pki = make_pki(options.state)
                server = HttpServer(front, host=options.host, port=options.https_port, context=pki.server_context())
                secure = stack.enter_context(server)
        except PkiError as error:
            print_line(f"fakeazure: {error}; --https-port -1 serves plain HTTP only", error=True)
            return ENVIRONMENT
        stack.enter_context(Pump(front, clock))
        if (
            warning := exposure(options.host, [server.port for server in (plain, secure) if server is not None])
        ) is not None:
            print_line(warning, error=True)
        for line in _environment(front, plain, secure, options):
            print_line(line)
        sys.stdout.flush()
        _wait(front, options, keeper)
        saved = keeper is None or keeper.save()
    return 0 if saved else ENVIRONMENT


def _kept(front: Front, folder: Path, stack: contextlib.ExitStack) -> Keeper:
    """Return who saves the world, with what was saved before taken out. CatalogueError in one line."""
    keeper = Keeper(front, folder, now=wall_time, say=_complain)
    try:
        return stack.enter_context(keeper)
    except ValueError as error:
        raise CatalogueError(str(error)) from None


def _complain(message: str) -> None:
    print_line(f"fakeazure: {message}", error=True, flush=True)


def _regions(text: str, catalogue: Catalogue) -> Sequence[str]:
    """The regions of `--sku-regions`. UnknownRegion for a name that is none."""
    names = catalogue.regions if text == "all" else tuple(name.strip() for name in text.split(","))
    for name in names:
        catalogue.region(name)
    return names


_PRICES = (
    "# a Karpenter controller with these variables reads no price list, since this is not the public cloud: spot costs what on demand "
    "costs"
)
"""Source: kaz pkg/providers/pricing/pricing.go (NewProvider, auth.IsPublic); the address of Resource Manager decides it."""


def _environment(
    front: Front, plain: HttpServer, secure: HttpServer | None, options: argparse.Namespace
) -> Iterator[str]:
    cloud, variables = front.cloud, {VARIABLE: front.guard.secret}
    if secure is not None:
        extra = controller_variables(
            cloud,
            plain=plain.url,
            secure=secure.url,
            secret=front.guard.secret,
            state=options.state,
            mode=options.mode,
            api_server=options.api_server,
        )
        variables |= dict(extra)
    if options.format == "json":
        urls = {"http": plain.url, "https": None if secure is None else secure.url}
        yield json.dumps({**urls, "environment": variables})
        return
    shown = plain.url + (f" and {secure.url}" if secure is not None else "")
    yield f"# fakeazure serves {cloud.state.settings.location}: {shown}"
    if secure is not None:
        yield _PRICES
    for name, value in variables.items():
        yield f"export {name}={quote(value)}"


def _wait(front: Front, options: argparse.Namespace, keeper: Keeper | None) -> None:
    stop = threading.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
    if options.seconds is not None:
        timer = threading.Timer(min(options.seconds, threading.TIMEOUT_MAX), stop.set)
        timer.daemon = True
        timer.start()
    shown, ended = 0, False
    while not ended:
        ended = stop.wait(0.2)
        if keeper is not None and not ended:
            keeper.tick()
        if options.print_calls:
            with front.lock:
                fresh = front.cloud.journal.since(shown)
                shown = front.cloud.journal.last
            for call in fresh:
                print_line(str(call), error=True, flush=True)
