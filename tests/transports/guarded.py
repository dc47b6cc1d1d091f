"""The secret of the clouds that tests serve, and a token of theirs."""

import json
import urllib.request

from fakeazure.beginning import TENANT
from fakeazure.transports.guard import Guard
from fakeazure.transports.live import wall_time
from fakeazure.transports.tokens import Tokens

SECRET = "the secret of the tests"
GUARD = Guard(SECRET)
TOKEN = Tokens(TENANT, wall_time, GUARD).token()


def token_of_a_vm(url: str) -> str:
    """A token from the IMDS of the cloud at `url`, which asks a VM for no secret. OSError while nothing listens."""
    query = "api-version=2018-02-01&resource=https://management.azure.com"
    request = urllib.request.Request(f"{url}/metadata/identity/oauth2/token?{query}", headers={"Metadata": "true"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=5) as answer:
        return str(json.load(answer)["access_token"])
