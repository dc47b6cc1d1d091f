#!/bin/sh
# compare.sh BASE FILE...: what becomes of the files of this checkout beside those of the commit BASE: in the job's summary, as a page, and, where
# GH_TOKEN is given, as a comment on the pull request. Differences are no failure.
set -u
base=$1
shift
marker='<!-- karpenter-azure-harness: comparison -->'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/base" "$folder/head" "$folder/tree"
git archive "$base" | tar -x -C "$folder/tree" || exit 2
for path in "$@"; do
  for side in base head; do
    if [ "$side" = base ]; then from=$folder/tree/$path; else from=$path; fi
    if [ -e "$from" ]; then
      mkdir -p "$folder/$side/$(dirname "$path")"
      cp -R "$from" "$folder/$side/$(dirname "$path")"
    fi
  done
done

printf '%s\n### Compared with %s\n\n' "$marker" "$base" > "$folder/comment.md"
code=0
if [ -z "$(ls -A "$folder/base")" ] || [ -z "$(ls -A "$folder/head")" ]; then
  printf 'Nothing to compare: one side has none of these files.\n' >> "$folder/comment.md"
else
  (cd "$folder" && harness compare base head ${RELEASE:+--release "$RELEASE"} --format markdown \
    --html "$RUNNER_TEMP/karpenter-azure-comparison.html" >> comment.md 2> errors) || code=$?
  cat "$folder/errors" >&2
  if [ "$code" -gt 1 ]; then
    printf '\nThey could not be compared (exit code %s).\n\n' "$code" >> "$folder/comment.md"
    tail -n 20 "$folder/errors" | sed 's/^/    /' >> "$folder/comment.md"
  fi
fi
cat "$folder/comment.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"

number=$(expr "${GITHUB_REF:-}" : 'refs/pull/\([0-9]*\)/') || number=
if [ -n "${GH_TOKEN:-}" ] && [ -n "$number" ]; then
  comments=repos/$GITHUB_REPOSITORY/issues
  mine=".[] | select(.body | startswith(\"$marker\")) | .id"
  if id=$(gh api --paginate "$comments/$number/comments" --jq "$mine") &&
    if [ -n "$id" ]; then
      gh api --silent --method PATCH "$comments/comments/$(printf '%s\n' "$id" | head -n 1)" -F body=@"$folder/comment.md"
    else
      gh api --silent --method POST "$comments/$number/comments" -F body=@"$folder/comment.md"
    fi
  then :; else
    echo '::notice title=comparison::the token may not comment here, as that of a fork; the summary of the job has the same'
  fi
fi
[ "$code" -le 1 ] || exit "$code"
