#!/usr/bin/env bash
# What `make demo` tells, with a part of examples/training in a repository of its own below build/: a mistake is found,
# a job is compiled, and a change is reviewed. Meanwhile all examples compile into out/. Needs git, and `stowplan` and
# its `python` on the PATH; nothing here asks for GNU's tools.
set -euo pipefail
cd "$(dirname "$0")/.."

said=""
say() { printf '\n%s\n\n' "$1"; }
told() { printf '  $ %s\n' "$1"; printf '%s\n' "$said" | sed 's/^/  /'; }
# Runs a command, and keeps what it says for `told`; one that fails ends the demo with its words.
must() { said=$("$@" 2>&1) || { printf '%s\n' "$said"; exit 1; }; }
edit() { sed "$1" "$2" > "$2.new"; mv "$2.new" "$2"; }

repository=build/demo/training
page=build/demo/report.html
rm -rf build/demo
mkdir -p "$repository/specs"

python examples/compile.py > build/demo/examples.log 2>&1 &
compiling=$!
trap 'kill "$compiling" 2> /dev/null || true' EXIT

# `path` is where the output lies in the work tree of this repository.
sed 's|path: out/training|path: out|' examples/training/stowplan.yaml > "$repository/stowplan.yaml"
sed '/^---$/,$d' examples/training/specs/data.yaml > "$repository/specs/data.yaml"
sed -n '/^# What jobs make/,$p' examples/training/specs/data.yaml > "$repository/specs/models.yaml"
sed 's/accelerator: h100/accelerater: h100/' examples/training/specs/torch.yaml > "$repository/specs/torch.yaml"
root=$PWD
cd "$repository"
git init --quiet --initial-branch main

say "1. A mistake is found before anything is written."
said=$(stowplan validate 2>&1) || true
case $said in *SP201*) ;; *) printf '%s\n' "$said"; exit 1 ;; esac
told "stowplan validate"

say "2. With the name corrected, the job compiles. out/ml/training-resnet has all that it needs in the cluster:"
edit 's/accelerater: h100/accelerator: h100/' specs/torch.yaml
must stowplan synth
said=$(printf '%s\n' "$said" | sed -n '/ errors, /,$p')  # without the advice, which the three infos are
told "stowplan synth"
must ls out/ml/training-resnet
told "ls out/ml/training-resnet"
git add --all
git -c user.name=demo -c user.email=demo@example.com -c commit.gpgsign=false commit --quiet --message "Begin"

say "3. The dataset gets another source. This is what a reviewer sees:"
edit 's|s3://images/imagenet/|s3://images/imagenet-v2/|' specs/data.yaml
stowplan report --base HEAD --output "$root/$page" > /dev/null 2>&1 &
reporting=$!
must stowplan diff --base HEAD
told "stowplan diff --base HEAD"
wait "$reporting"
say "The same as a page for reviewers, with a graph and the runs that start and end, by stowplan report --base HEAD:"
echo "  $page"

cd "$root"
wait "$compiling" || { cat build/demo/examples.log; exit 1; }
printf '\n'
cat build/demo/examples.log
