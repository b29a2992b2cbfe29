# On a machine with Python 3.11 or newer, git and make:
#   make demo                         shows a mistake, a job and the review of a change, and compiles examples/ into out/
#   make test                         runs every check, and the tests that need no other programs
# With Go and the programs that .ci/run installs:
#   make test-landing                 the other tests that each change has to pass
#   make test-nightly                 nodes, Argo CD, frameworks, images, browser, editor, the oldest Kubernetes
#   make test-on-request PART=<name>  what takes hours: ON_REQUEST below names the parts

# Tests start thousands of Python processes, which take half of the time with bytecode. Some machines of CI services say
# that none shall be written.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
EXAMPLES := $(patsubst examples/%/specs,%,$(wildcard examples/*/specs))
# The tier of a test is its folder.
LANDING := $(addprefix tests/,agents cluster command hostile launcher pins release starter upgrade)
KILLS := $(shell grep -l --include='*.py' "tests.tier import KILLS" -r tests/agents)
RACES := $(shell grep -l --include='*.py' "tests.tier import RACES" -r tests/hostile)
NIGHTLY := tests/nightly tests/cluster $(KILLS) $(RACES)
ON_REQUEST := kills planted_bugs races random
on_request_kills := $(KILLS)
on_request_planted_bugs := tests/on_request/planted_bugs
on_request_races := $(RACES)
on_request_random := $(shell grep -lE --include='test_*.py' '^(from|import) hypothesis' -r tests)
# `tests/conftest.py` says what runs in which process.
PYTEST := $(BIN)/python -m pytest --no-loadscope-reorder
RESULT = -p tests.result --result tests/$(1)/RESULT.md --part $(2)

.PHONY: check clean demo docs generate images layers lint pictures programs requirements sbom synth test test-landing test-nightly test-on-request types

# Compiles all examples, and meanwhile shows with one of them how a mistake is found, a job compiled and a change reviewed.
demo: .venv/ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/demo.sh

synth: .venv/ready
	@$(BIN)/python examples/compile.py

# Without a base commit also in CI: `tests/test_examples.py` compiles everything in out/ from nothing.
check: .venv/ready
	@for name in $(EXAMPLES); do CI= $(BIN)/stowplan synth examples/$$name --out out/$$name --check || exit 1; done

test: .venv/ready lint types layers
	$(PYTEST) -n logical tests $(LANDING:%=--ignore=%) --ignore=tests/bench --ignore=tests/nightly --ignore=tests/on_request
	@echo
	@echo "Left out:"
	@for folder in $(LANDING); do echo "  $$folder: $(BIN)/pytest $$folder"; done
	@echo "  all of these: make test-landing"
	@echo "  tests/nightly: make test-nightly; tests/on_request: make test-on-request"

test-landing: .venv/ready
	$(PYTEST) -n auto $(LANDING)

# NIGHTLY=tests/nightly/node runs a part.
test-nightly: .venv/ready
	STOWPLAN_TIER=nightly $(PYTEST) -n auto $(call RESULT,nightly,$(if $(filter file,$(origin NIGHTLY)),all,part)) $(NIGHTLY)

test-on-request: .venv/ready
	@test -n "$(filter $(PART),$(ON_REQUEST))" || { echo "PART is one of: $(ON_REQUEST)" >&2; exit 2; }
	STOWPLAN_TIER=on-request $(PYTEST) -n auto $(call RESULT,on_request,$(PART)) $(on_request_$(PART))

lint: .venv/ready
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: .venv/ready
	$(BIN)/mypy

layers: .venv/ready
	$(BIN)/lint-imports

# Builds with Go what the tests of a tier run, unless KUBEBUILDER_ASSETS or the cache has it. The editor's server is of npm.
TIER = landing
programs: .venv/ready
	$(BIN)/python -m tests.cluster.binaries $(TIER)
	$(if $(filter nightly,$(TIER)),$(BIN)/python -m tests.nightly.editor.npm)

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
