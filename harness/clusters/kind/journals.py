"""Causes in a node's logs: the part of the control plane that died, a kubelet's refusal of its flags, the host's exhaustion."""

from __future__ import annotations

import re

__all__ = ["DEATHS", "exhaustion", "refusal"]

_NO_INOTIFY = re.compile(r"inotify_init: too many open files|Failed to start .*Directory Watch")
"""The kubelet's words, and systemd's, from which it does not recover."""

_FLAGS_REFUSED = "failed to validate kubelet flags"

DEATHS = r"""
cd /var/log/pods || exit
for part in kube-system_*/*/; do
  name=$(basename "$part")
  case $name in etcd|kube-apiserver|kube-controller-manager|kube-scheduler) ;; *) continue ;; esac
  last=$(ls "$part" | sed -n 's/^\([0-9]*\)\.log$/\1/p' | sort -n | tail -n 1)
  # the kernel keeps 15 characters of a name
  if pgrep -x "$(echo "$name" | cut -c1-15)" >/dev/null; then
    [ "${last:-0}" -gt 0 ] || continue
    dead=$((last - 1))
    echo "$name ended and was started again ($last times); the end of its log:"
  else
    dead=${last:-0}
    # a container that is being started has an empty log; the one before it says why it ended
    [ -s "$part$dead.log" ] || [ "$dead" -eq 0 ] || dead=$((dead - 1))
    echo "$name does not run; the end of its log:"
  fi
  tail -n 15 "$part$dead.log" 2>/dev/null | cut -c1-300 | sed 's/^/    /'
  echo "journal of kubelet:"
  journalctl --no-pager -q -o cat -n 8 -u kubelet | cut -c1-300 | sed 's/^/    /'
done
"""
"""Names the parts of the control plane that ended: the kubelet keeps the log of one that it had to start again."""


def refusal(journal: str) -> str | None:
    """The kubelet's own sentence in its journal when it refuses its flags, None when it does not."""
    _, separator, rest = journal.partition(_FLAGS_REFUSED + ": ")
    if not separator:
        return None
    # the sentence about labels has two lines, of which the journal keeps both; klog quotes them in one
    quoted = rest.split('"\n', 1)[0] if '"\n' in rest.split("\n", 1)[0] + "\n" else rest
    lines = quoted.replace("\\n", "\n").replace('\\"', '"').strip().strip('"').splitlines()[:2]
    if "--node-labels" in lines[0] and len(lines) < 2:
        return None  # the second line is on its way
    return "\n".join(line.strip() for line in lines)


def exhaustion(journal: str) -> str:
    """Return the exhausted resource of the host that this kubelet or node needs, and the remedy; empty when it is not that."""
    if not _NO_INOTIFY.search(journal):
        return ""
    return (
        "the host has no inotify instances left: end other clusters, or let it have more, for example "
        "sysctl fs.inotify.max_user_instances=1024"
    )
