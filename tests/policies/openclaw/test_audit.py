from __future__ import annotations

import pytest

from harness_nb.core.messages import Message
from harness_nb.policies.openclaw.audit import Audit, identifiers_in
from tests.policies.openclaw.talks import GOOD, items


def test_identifiers_are_hashes_addresses_paths_hosts_and_long_numbers() -> None:
    text = "see (https://ex.com/a). /srv/app/x.ts, host.io:8080 and deadbeef12 or 1234567; not 12345"
    assert identifiers_in(text) == ("https://ex.com/a", "/srv/app/x.ts", "host.io:8080", "DEADBEEF12", "1234567")
    assert len(identifiers_in(" ".join(str(at) for at in range(1_000_000, 1_000_020)))) == 12


def test_only_the_last_ten_messages_are_looked_at() -> None:
    talk = [Message.user("code 7654321"), *(Message.assistant(f"a{at}") for at in range(10))]
    assert Audit.of(items(talk), strict=True).identifiers == ()
    assert Audit.of(items(talk[:10]), strict=True).identifiers == ("7654321",)
    assert Audit.of(items(talk[:10]), strict=False).identifiers == ()


def test_a_summary_needs_headings_identifiers_and_the_latest_request() -> None:
    audit = Audit(("ABCDEF12", "/srv/app"), "please check the deployment of the release")
    assert audit.faults(f"{GOOD}\nabcdef12 /srv/app deployment release") == ()
    faults = audit.faults("deployment only")
    assert len(faults) == 7 and "ABCDEF12, /srv/app" in faults[5] and "request" in faults[6]


@pytest.mark.parametrize(
    ("request_text", "passes"),
    [
        ("deployment plan", True),
        ("deployment plan other words here", True),
        ("nothing alike", False),
        ("of the", False),
    ],
)
def test_two_words_of_a_longer_request_are_enough(request_text: str, passes: bool) -> None:
    faults = Audit((), request_text).faults(f"{GOOD}\nthe deployment plan")
    assert (faults == ()) is passes


def test_without_a_request_there_is_nothing_to_reflect() -> None:
    assert Audit.of(items([Message.assistant("a")]), strict=True).faults(GOOD) == ()
