#!/bin/sh
# part.sh TITLE COMMAND...: one part of the action. The findings stand beside the changed lines and in the job's summary; the exit code is the
# command's.
title=$1
shift
"$@" --format github
code=$?
{
  printf '### %s\n\n' "$title"
  if [ "$code" -gt 2 ]; then
    printf 'It did not come to an end (exit code %s): see the log.\n' "$code"
  else
    "$@" --format markdown 2>&1
  fi
  printf '\n'
} >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
