"""The settings of the profile, as AKS takes them."""

import pytest

from harness.clusterautoscaler.profile import DEFAULTS, Profile, SettingError, profile_from, read_setting


def test_the_defaults_are_those_that_aks_documents() -> None:
    assert profile_from(DEFAULTS) == profile_from({}) == Profile()


def test_settings_are_read_by_their_names() -> None:
    profile = profile_from({"expander": "priority", "scale-down-unneeded-time": "3m", "max-empty-bulk-delete": "1"})

    assert (profile.expander, profile.scale_down_unneeded_time, profile.max_empty_bulk_delete) == ("priority", 180, 1)


def test_the_delay_after_a_deletion_is_the_scan_interval_unless_it_is_set() -> None:
    assert profile_from({"scan-interval": "30s"}).scale_down_delay_after_delete == 30
    both = {"scan-interval": "30s", "scale-down-delay-after-delete": "1m"}
    assert profile_from(both).scale_down_delay_after_delete == 60


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("balance-similar-node-groups", "yes", "'true' or 'false' is expected, not 'yes'"),
        ("expander", "price", "one of least-waste, most-pods, priority, random is expected, not 'price'"),
        ("max-empty-bulk-delete", "0", "a whole number from 1 is expected, not '0'"),
        ("max-total-unready-percentage", "101", "a number from 0 to 100 is expected, not '101'"),
        ("scale-down-utilization-threshold", "50%", "a number from 0 to 1 is expected, not '50%'"),
        ("scale-down-unneeded-time", "600s", "a whole number with the unit m is expected, such as 10m, not '600s'"),
        ("scan-interval", "0s", "a time longer than 0 is expected, not '0s'"),
        (
            "new-pod-scale-up-delay",
            "1.5m",
            "a whole number with the unit s or m or h is expected, such as 10s, not '1.5m'",
        ),
    ],
)
def test_wrong_values(key: str, text: str, problem: str) -> None:
    with pytest.raises(SettingError) as error:
        read_setting(key, text)
    assert str(error.value) == problem


def test_an_unknown_setting() -> None:
    with pytest.raises(KeyError):
        read_setting("scale-down-threshold", "1")
