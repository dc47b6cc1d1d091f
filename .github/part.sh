#!/bin/sh
# part.sh TITLE COMMAND...: one part of the action. The findings stand beside the changed lines and in the job's summary; the exit code is the
# command's.
title=$1
shift
folder=$(mktemp -d)
"$@" --format github --markdown "$folder/summary.md" 2> "$folder/errors"
code=$?
cat "$folder/errors" >&2
{
  printf '### %s\n\n' "$title"
  if [ -s "$folder/summary.md" ]; then
    cat "$folder/summary.md"
  else
    printf 'It did not come to an end (exit code %s):\n\n' "$code"
    tail -n 20 "$folder/errors" | sed 's/^/    /'
  fi
  printf '\n'
} >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
rm -r "$folder"
exit "$code"
