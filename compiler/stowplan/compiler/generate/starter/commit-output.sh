#!/usr/bin/env bash
# Compile the specs of the main branch and commit out/. Only CI runs this: nobody else writes out/.
#
# It needs the branch in GITHUB_REF_NAME or CI_COMMIT_BRANCH, a token that may push to it in STOWPLAN_PUSH_TOKEN, and
# where origin has credentials of its own, the address without them in STOWPLAN_PUSH_URL.
set -euo pipefail

readonly NAME="Stowplan" EMAIL="stowplan@ci.invalid" MARK="Stowplan-Compiled-From"
readonly TRIES=5
branch="${GITHUB_REF_NAME:-${CI_COMMIT_BRANCH:?is not set, and neither is GITHUB_REF_NAME}}"
url="${STOWPLAN_PUSH_URL:-$(git remote get-url origin)}"
token="${STOWPLAN_PUSH_TOKEN:-}"
# Extensions of the repository run when it is compiled, and need no token.
unset STOWPLAN_PUSH_TOKEN

if [ -n "${GITHUB_ACTIONS:-}" ]; then format=github; else format=text; fi

# Git without what a clone or a machine may have that runs programs, answers for other commits or fetches submodules.
git() {
  command git --no-replace-objects -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.attributesFile=/dev/null \
    -c core.commitGraph=false -c submodule.recurse=false "$@"
}

fail() {
  if [ "$format" = github ]; then printf '::error::%s\n' "$1"; else printf '%s\n' "$1" >&2; fi
  exit 1
}

# Git with the token, which stands in no argument and no file.
git_with_token() {
  if [ -z "$token" ]; then
    git "$@"
  else
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$url.extraHeader" \
      GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:%s' "$token" | base64 -w0)" git "$@"
  fi
}

tip() {
  git_with_token fetch --quiet "$url" "refs/heads/$branch" && git rev-parse FETCH_HEAD
}

# What CI is made of in a commit. It is installed before this script begins.
tools() {
  git ls-tree "$1" requirements ci
}

# The output folder in a commit or tree, as one line that no setting and no attribute has a part in; empty without one.
output() {
  git ls-tree "$1" out
}

# The newest commit of this script, if there is one; with --first-parent, of those that the branch had as its newest.
# `git log` would read the names of authors in .mailmap.
last_own() {
  git rev-list --max-count=1 "$@" --fixed-strings --author="<$EMAIL>" --grep="$MARK: " HEAD
}

# Refuse a branch whose first parents are of another history, where this script seems never to have made a commit.
refuse_other_history() {
  local lost
  lost="$(last_own)"
  [ -z "$lost" ] ||
    fail "Commit $lost of this workflow is not among the first parents of $branch, so out/ cannot be compared with it. Set $branch back to what it was before the merge that changed them."
}

# Refuse an output folder that is not as this script left it: runs in it would be taken over as they are.
refuse_foreign() {
  local own="$1" from
  # A line with the commit comes first.
  from="$(git rev-list --max-count=1 --format="%(trailers:key=$MARK,valueonly,separator=%x2C)" "$own" | tail -n +2)"
  [ "$from" = "$(git rev-parse "$own^")" ] ||
    fail "Commit $own says that it holds the compiled output, and this workflow did not make it. Revert it."
  [ "$(output "$own")" = "$(output HEAD)" ] ||
    fail "out/ is not as the workflow left it in $own. Only the workflow writes it: revert $(git rev-list --abbrev-commit "$own..HEAD" -- out | tr '\n' ' ')"
}

# Compile what is checked out and commit it. Without a change of the output there is no commit, except for the first one:
# later runs compare with it.
commit_output() {
  local own="$1" from made
  from="$(git rev-parse HEAD)"
  stowplan synth --format "$format" || exit 1
  git add --all --force -- out
  # What Git holds now is what lands.
  stowplan synth --check --base "$from" || exit 1
  made="$(git write-tree)"
  if [ -n "$own" ] && [ "$(output "$made")" = "$(output HEAD)" ]; then return; fi
  GIT_AUTHOR_NAME="$NAME" GIT_AUTHOR_EMAIL="$EMAIL" GIT_COMMITTER_NAME="$NAME" GIT_COMMITTER_EMAIL="$EMAIL" \
    git commit --quiet --no-verify --allow-empty -m "Compile the specs" -m "$MARK: $from"
}

push() {
  local options=()
  # No pipeline for a commit of this script. On GitHub, what a workflow pushes with its own token starts none.
  if [ -n "${GITLAB_CI:-}" ]; then options=(-o ci.skip); fi
  git_with_token push --quiet ${options[@]+"${options[@]}"} "$url" "HEAD:refs/heads/$branch"
}

main() {
  local start from own try
  start="$(git rev-parse HEAD)"
  for try in $(seq "$TRIES"); do
    from="$(tip)" || fail "The branch $branch cannot be fetched."
    if [ "$(tools "$start")" != "$(tools "$from")" ]; then
      echo "A later push changed what CI runs: its own run compiles out/."
      exit 0
    fi
    git checkout --quiet --force --detach "$from"
    own="$(last_own --first-parent)"
    if [ -n "$own" ]; then refuse_foreign "$own"; else refuse_other_history; fi
    if [ "$own" = "$from" ]; then
      # The loop ends here: on top of its own commit this script makes none.
      stowplan synth --check --base HEAD^ --format "$format" || exit 1
      exit 0
    fi
    commit_output "$own"
    if [ "$(git rev-parse HEAD)" = "$from" ]; then
      echo "out/ is up to date."
      exit 0
    fi
    if push; then
      echo "Committed out/ as $(git rev-parse HEAD)."
      exit 0
    fi
    [ "$(tip)" != "$from" ] || fail "$branch does not take the commit. May the token of this job push to it?"
    echo "Somebody else pushed to $branch meanwhile (try $try of $TRIES)."
  done
  fail "Others pushed to $branch $TRIES times meanwhile. Run this job again."
}

main
