#!/usr/bin/env bash
# What `make demo` tells: all examples compile; then, in a repository of its own below build/, a mistake is found, a
# job is compiled, and a change is reviewed. Needs `stowplan` on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n%s\n\n' "$1"; }
show() { printf '  $ %s\n' "$*"; "$@" 2>&1 | sed 's/^/  /'; }

repository=build/demo/training
page=build/demo/report.html
rm -rf build/demo
mkdir -p "$repository/specs"

find examples -mindepth 2 -maxdepth 2 -name stowplan.yaml -printf '%h\n' | sort | xargs -P 4 -I{} sh -c '
  name=$(basename "$1")
  stowplan synth "$1" --out "out/$name" > "build/demo/$name.log" 2>&1 || { cat "build/demo/$name.log"; exit 255; }
' sh {}
echo "Compiled $(find examples -mindepth 2 -maxdepth 2 -name stowplan.yaml | wc -l) examples into $(find out -name '*.yaml' | wc -l) manifests below out/."

# One dataset and one job of examples/training; `path` is where the output lies in the work tree of this repository.
sed 's|path: out/training|path: out|' examples/training/stowplan.yaml > "$repository/stowplan.yaml"
sed '/^---$/,$d' examples/training/specs/data.yaml > "$repository/specs/data.yaml"
sed -n '/^# What jobs make/,$p' examples/training/specs/data.yaml > "$repository/specs/models.yaml"
sed 's/accelerator: h100/accelerater: h100/' examples/training/specs/torch.yaml > "$repository/specs/torch.yaml"
root=$PWD
cd "$repository"
git init --quiet --initial-branch main

say "1. A mistake is found before anything is written."
show stowplan validate || true

say "2. With the name corrected, the job compiles. out/ml/training-resnet has all that it needs in the cluster:"
sed -i.before 's/accelerater: h100/accelerator: h100/' specs/torch.yaml
rm specs/torch.yaml.before
printf '  $ stowplan synth\n'
stowplan synth 2>&1 | sed -n '/ errors, /,$s/^/  /p'  # without the advice, which the three infos are
show ls out/ml/training-resnet
git add --all
git -c user.name=demo -c user.email=demo@example.com -c commit.gpgsign=false commit --quiet --message "Begin"

say "3. The dataset gets another source. This is what a reviewer sees:"
sed -i.before 's|s3://images/imagenet/|s3://images/imagenet-v2/|' specs/data.yaml
rm specs/data.yaml.before
stowplan report --base HEAD --output "$root/$page" > /dev/null 2>&1 &
show stowplan diff --base HEAD
wait $!
say "The same as a page for reviewers, with a graph and the runs that start and end, by stowplan report --base HEAD:"
echo "  $page"
