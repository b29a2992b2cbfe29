# Three commands do everything on a machine with Python 3.11 or newer, git and make:
#   make demo       shows a mistake, a job and the review of a change, and compiles examples/ into out/
#   make test       runs every check, and the tests that need no other programs, in six to nine minutes on two cores
#   make test-all   runs every check and every test

# Tests start thousands of Python processes, which take half of the time with bytecode. Some machines of CI services say
# that none shall be written.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
EXAMPLES := $(patsubst examples/%/stowplan.yaml,%,$(wildcard examples/*/stowplan.yaml))
# Folders with tests that `make test` leaves out: they take many minutes or need other programs.
LEFT_OUT := $(addprefix tests/,agents bench browser cluster editor hostile launcher node pins starter)
# `tests/conftest.py` says what runs in which process.
PYTEST := $(BIN)/pytest -n auto --no-loadscope-reorder

.PHONY: all-tests argocd check clean control-plane demo docs generate images layers lint node pictures quick-tests requirements sbom synth test test-all types

# Compiles all examples, and meanwhile shows with one of them how a mistake is found, a job compiled and a change reviewed.
demo: .venv/ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/demo.sh

synth: .venv/ready
	@$(BIN)/python examples/compile.py

# Without a base commit also in CI: `tests/test_examples.py` compiles everything in out/ from nothing.
check: .venv/ready
	@for name in $(EXAMPLES); do CI= $(BIN)/stowplan synth examples/$$name --out out/$$name --check || exit 1; done

test: .venv/ready lint types layers quick-tests
	@echo
	@echo "Left out:"
	@for folder in $(LEFT_OUT); do echo "  $$folder: $(BIN)/pytest $$folder"; done
	@echo "  slow tests in the other folders: $(BIN)/pytest -m slow"
	@echo "  Argo CD: make argocd; nodes: make node"
	@echo "  all of these: make test-all"

test-all: .venv/ready lint types layers all-tests

lint: .venv/ready
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: .venv/ready
	$(BIN)/mypy

layers: .venv/ready
	$(BIN)/lint-imports

quick-tests: .venv/ready
	$(PYTEST) -m "not slow" $(LEFT_OUT:%=--ignore=%)

all-tests: .venv/ready
	$(PYTEST) --argocd

# Builds what tests/cluster and tests/nightly/node run, with Go, unless KUBEBUILDER_ASSETS or the cache has it, and installs what tests/nightly/editor runs.
control-plane: .venv/ready
	$(BIN)/python -m tests.cluster.binaries
	$(BIN)/python -m tests.nightly.editor.npm

# The tests with a real Argo CD, on the newest Kubernetes, without nodes: some ten minutes. Needs Go and redis-server.
argocd: .venv/ready
	$(PYTEST) tests/cluster/test_argocd*.py --argocd

# All tests on real nodes, with Argo CD: some forty minutes, most of them waiting.
node: .venv/ready
	$(PYTEST) tests/nightly/node --argocd

# Writes what is generated: CRDs and editor schemas from the models, the schemas of Kubernetes, then the examples' output.
# The output begins with nothing, since runs that were compiled by an older version would be kept.
generate: .venv/ready
	$(BIN)/python -c "from pathlib import Path; from stowplan.compiler.generate import export; export.write(Path())"
	rm -rf out
	$(MAKE) synth

# Builds the images of the agents and of the compiler, named as an empty platform file names them. IMAGES=control builds one
# of them, REGISTRY=registry.example.com/ml names them for a registry, TAG gives another tag than the version;
# library/images/README.md explains the build arguments.
IMAGES := cache compiler control git transfer
BUILD_ARGUMENTS := BASE RUNTIME SOURCE REVISION JUICEFS JUICEFS_RELEASE JUICEFS_SHA256 GO JUICEFS_TAGS
ENGINE = $(firstword $(foreach each,podman docker buildah,$(if $(shell command -v $(each) 2>/dev/null),$(each))))
REGISTRY = docker.io/local
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
TAG = $(VERSION)
# Further options of the build, such as secrets.
OPTIONS =
images:
	@test -n "$(ENGINE)" || { echo "There is no podman, docker or buildah here. ENGINE=... names another program that builds images." >&2; exit 1; }
	@for name in $(IMAGES); do \
	  image=$(REGISTRY)/stowplan-$$name:$(TAG); \
	  echo "== $$image"; \
	  $(ENGINE) build --file library/images/Containerfile --target $$name --tag $$image --build-arg=VERSION=$(VERSION) \
	    $(foreach each,$(BUILD_ARGUMENTS),$(if $(filter command,$(origin $(each))),--build-arg=$(each)=$($(each)))) \
	    $(OPTIONS) . || exit 1; \
	done

# What the images and the CI of users are made of, as the lock file has it. Hatchling builds Stowplan from a Git commit.
requirements: .venv/ready
	@for group in control transfer wheel; do \
	  $(BIN)/uv export --quiet --frozen --no-header --only-group $$group --format requirements.txt \
	    --output-file library/images/requirements-$$group.txt || exit 1; \
	done
	$(BIN)/uv export --quiet --frozen --no-header --no-dev --extra pin --no-emit-project --format requirements.txt \
	  --output-file library/images/requirements-compiler.txt
	$(BIN)/uv export --quiet --frozen --no-header --no-dev --group wheel --no-emit-project --format requirements.txt \
	  --output-file compiler/stowplan/compiler/generate/starter/requirements.txt

# The site of the documentation, in build/docs/site. A link that leads nowhere fails.
docs: .venv/ready
	$(BIN)/python docs/build.py build/docs

# The pictures of the documentation, as Chromium and Graphviz draw them, and of what `make demo` prints.
pictures: .venv/ready
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python docs/demo_picture.py docs/pages/images
	$(BIN)/python -m tests.nightly.browser.pictures docs/pages/images
	dot -Tsvg -Ncolor=black -Nfontcolor=black -Ecolor=black -Efontcolor=black docs/way.dot > docs/pages/images/way-light.svg
	dot -Tsvg -Ncolor=white -Nfontcolor=white -Ecolor=white -Efontcolor=white docs/way.dot > docs/pages/images/way-dark.svg

# What each image holds beside its base, as CycloneDX has it. Not committed: the requirements say it all.
sbom: .venv/ready
	$(BIN)/python library/images/sbom.py build/sbom

# The lock file names every version; uv itself is one of them.
.venv/ready: pyproject.toml uv.lock
	@echo "Setting up .venv, which takes a minute or two, once."
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet "uv==$$(sed -n '/^name = "uv"$$/{n;s/version = "\(.*\)"/\1/p;}' uv.lock)"
	UV_PROJECT_ENVIRONMENT=.venv $(BIN)/uv sync --frozen --all-extras --quiet
	touch $@

clean:
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
