# make scenarios      the scenarios, on plain Python, judged in as many processes as there are cores (WORKERS=0: in pytest's own)
# make test           lint (ruff: rules and format), types, walls, unit tests, golden vectors
# make test-clusters  the contract of a cluster and label scenarios on real API servers and kind (SMOKE=1: a few of them), and one
#                     case of each release line in memory and on kind (SEED=1 draws it)
# make test-clients   Python SDKs, az CLI, az documentation, Karpenter's guide, JavaScript SDKs, Java SDK, Go SDK, cloud-provider-azure and
#                     Terraform azapi, each against a served fake cloud of its own: operations × works, wrong, missing, left out;
#                     COVERAGE=FILE writes them for the coverage page
#                     (what is installed lies in .venv-clients, 2 GB; ARGS="--only 'Python SDKs'" takes one client, ARGS=--all shows all)
# make terraform-client what `make test-clients` needs for Terraform: compiles the provider azapi, which takes minutes (HARNESS_TERRAFORM=COMMAND
#                     takes another Terraform or OpenTofu, HARNESS_TERRAFORM_PROVIDERS=FOLDER another provider)
# make cloud-provider-client the same for Kubernetes' cloud provider: compiles a program with its modules, which takes minutes
# make stories        workloads of all kinds, told on the real kube-controller-manager and in memory (CASES=50 SEED=1; KUBEBUILDER_ASSETS; RECORD=1
#                     keeps what the real one did for make test; ARGS=--shrink looks for the shortest story that differs)
# make test-real      the simulated loop beside the real controller (HARNESS_KARPENTER names its binary) on one scenario after the other, and
#                     the real one under load and faults, and on a real API server (SMOKE=1: a few of the first two; REPORT=FILE: JUnit XML
#                     of the scenarios, of which tests.real.figures makes a table)
# make clean-clusters what killed runs left of clusters: processes, containers, volumes, networks, folders
# make conformance    our answers against the real Go code: CASES=2000 SEED=1 RELEASES=1.14.0,1.13.1 OPS=requirements
# make upgrades       worlds that were upgraded beside worlds that began there, under all neighbouring releases and versions of Kubernetes:
#                     CASES=2000 (manifests) SEED=1
# make migrations     generated clusters that move from agent pools to NodePools: each pod has a place or a reason; CASES=500 SEED=1
#                     (ARGS="--minutes 20" begins no further case after that; 60 where it is left out)
# make properties     the tests of random worlds, of which make test takes a sample, with all their seeds (EXAMPLES=10: ten times as many)
# make golden         the golden vectors anew from the real Go code
# make record-labels  the scenarios of every key (labels/keys-*, labels/claims-*, ...) anew from the real Go code
# make mutations      changes every input of the label tables in turn: some scenario must fail (RELEASES=1.14.0)
# make mutants        changes code at random places, one operator or number at a time: some test must fail (N=100 SEED=1)
# make fuzz           50,000 requests, malformed and costly ones, to one served cloud, beside a client that polls (REQUESTS=50000 SEED=1); then
#                     CHANGES=5000 snapshots of which a value was changed: refused, or the world answers everything
# make bench          benchmarks, beside the Go scheduler where KARPENTER_SOURCES is set; plot and figures in reports/ (WEEKS=100,1000: weeks
#                     of clusters of so many nodes)
# make schema         the scenario language's JSON Schema and its reference page anew
# make site           the documentation as a site in build/site, which opens without a server
# make test-browser   the HTML pages, and the playground if it is built, in Chromium: figures, clicks, screenshots, accessibility; skips where there is none (SMOKE=1: a few)
# make picture        the script and style of the HTML pages anew from picture/src (needs Node; bundled with esbuild)
# make readme-picture the picture in the README anew (needs Chromium)
# make picture-check  the same in a folder that goes, compared with the committed files
# make playground     the commands in a browser: a static folder in build/playground, which any web server can serve (needs Node)
# make wheel          the package as a file in dist/, which pip installs without a clone
# make requirements   requirements/*.txt anew: what CI, the image and a release install, each with its hash (uv resolves; LOCKED=1 uses them here)
# make clean          everything that make made
SHELL := /bin/sh
.DEFAULT_GOAL := test
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?=
VENV ?= .venv
RUN := $(VENV)/bin/python
WORKERS ?= auto
CASES ?= 2000
SEED ?= 1
RELEASES ?=
OPS ?=
N ?= 100
REQUESTS ?= 50000
CHANGES ?= 5000
EXAMPLES ?= 1
SMOKE ?=
RECORD ?=
WEEKS ?= 100
REPORT ?=
ARGS ?=
LOCKED ?=
comma := ,

SMOKE_SCENARIOS := scenarios/labels/kubelet-may-not.yaml scenarios/labels/machine-api.yaml
SMOKE_DISRUPTION := scenarios/disruption/emptiness.yaml
DISRUPTION := $(addprefix scenarios/disruption/,emptiness.yaml drift.yaml consolidation.yaml consolidated.yaml not-consolidated.yaml blocked.yaml \
  queue.yaml expiration.yaml static-drift.yaml overlays.yaml policies.yaml balanced.yaml prices.yaml validation.yaml budgets.yaml \
  interruption.yaml churn.yaml timeouts.yaml refused-replacements.yaml no-candidates.yaml repair-beside-others.yaml \
  budgets-by-method.yaml metrics.yaml images.yaml)
CLUSTER_SCENARIOS := $(addprefix scenarios/labels/,bootstrapping-client.yaml do-not-sync-taints.yaml kubelet-may-not.yaml machine-api.yaml \
  network.yaml operating-system.yaml spot-node.yaml who-wins.yaml)

# the tables of each release and mode, whose rows one Node proves
KIND_SCENARIOS := $(CLUSTER_SCENARIOS) $(wildcard scenarios/labels/keys-*.yaml)

REAL_SMOKE := scenarios/lifecycle/provision-modes.yaml scenarios/capacity/late-failures.yaml
REAL_SCENARIOS := scenarios/lifecycle scenarios/capacity scenarios/faq $(addprefix scenarios/labels/,bootstrapping-client.yaml claims-1.7.2.yaml \
  claims-1.14.0.yaml keys-1.7.2.yaml keys-1.14.0.yaml kubelet-may-not.yaml machine-api.yaml network.yaml spot-node.yaml who-wins.yaml)

# What is imported is compiled once, also where the environment forbids to write that beside the sources: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX ?= $(abspath $(VENV))/compiled

# what scenarios need none of; each costs time for every case. They print nothing that could be captured, and pytest would rewrite the
# assertions of all modules of a plugin
PLAIN := $(addprefix -p no:,faker hypothesispytest logging syrupy xdist) --capture=no --assert=plain \
  -o console_output_style=progress-even-when-capture-no

PACKAGES := harness fakeazure atomicfiles lazyrecords plainlines

CORE := $(VENV)/.installed
CLIENTS := .venv-clients
CLUSTERS := $(VENV)/.installed-clusters

.PHONY: scenarios test lint types unit test-clusters stories test-clients terraform-client cloud-provider-client clean-clusters conformance upgrades migrations properties golden record-labels mutations mutants fuzz bench schema site test-browser test-editors picture picture-check readme-picture playground wheel requirements clean

scenarios: $(CORE)
	$(RUN) -m pytest scenarios $(if $(filter 0,$(WORKERS)),,--processes $(WORKERS)) $(PLAIN) $(ARGS)

# The types are checked beside the tests, on a core that would wait for them.
test: lint
	@$(MAKE) -j2 types unit

lint: $(CORE)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check --preview --select PLW1514 $(PACKAGES) # each file with its encoding: that of a laptop may be another

types: $(CORE)
	$(RUN) -m mypy

unit: $(CORE)
	PYTHONWARNDEFAULTENCODING=1 $(RUN) -m pytest -n $(WORKERS) $(ARGS)

test-clusters: $(CLUSTERS)
	$(RUN) -m pytest tests/clusters --run-clusters $(if $(SMOKE),-m "real_cluster and smoke") --durations=5 $(ARGS)
	$(RUN) -m pytest $(if $(SMOKE),$(SMOKE_SCENARIOS) $(SMOKE_DISRUPTION),$(CLUSTER_SCENARIOS) $(DISRUPTION)) --cluster memory,apiserver $(ARGS)
	$(RUN) -m pytest $(if $(SMOKE),$(SMOKE_SCENARIOS),$(KIND_SCENARIOS)) --cluster kind $(ARGS)
	$(RUN) -m pytest scenarios/labels --cluster memory,kind --sample 1 --sample-seed $(SEED) $(ARGS)

test-clients: $(CORE) $(CLIENTS)/sdks/.installed $(CLIENTS)/az/.installed $(CLIENTS)/javascript/.installed \
  $(CLIENTS)/java/.installed
	$(RUN) -m tests.clients.run $(if $(COVERAGE),--coverage $(COVERAGE)) $(ARGS)

# What az is built on conflicts with the newest SDKs, so each has a venv of its own.
$(CLIENTS)/%/.installed: tests/clients/%.txt | $(RUN)
	$(RUN) -m venv $(CLIENTS)/$*
	$(CLIENTS)/$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# Modules are looked for beside the program; without npm the client is left out.
$(CLIENTS)/javascript/.installed: $(wildcard tests/clients/javascript/*)
	@mkdir -p $(@D) && cp $^ $(@D)
	@if command -v npm >/dev/null; then npm ci --prefix $(@D) --no-fund --no-audit --silent && touch $@; \
	  else echo "make: no npm, so the JavaScript SDKs are left out"; fi

# Java takes the jars from one folder, so Maven has no part in a run; without it the client is left out.
$(CLIENTS)/java/.installed: tests/clients/java/pom.xml
	@mkdir -p $(@D) && rm -rf $(@D)/jars
	@if command -v mvn >/dev/null; then mvn -B -q -f $< -Dmaven.repo.local="$(abspath $(@D))/repository" dependency:copy-dependencies \
	  -DoutputDirectory="$(abspath $(@D))/jars" && touch $@; else echo "make: no mvn, so the Java SDK is left out"; fi

# Minutes of a core: Terraform comes as a package, its provider is compiled from the module.
AZAPI := github.com/Azure/terraform-provider-azapi@v1.15.0
terraform-client: $(CLIENTS)/terraform/terraform-provider-azapi
$(CLIENTS)/terraform/terraform-provider-azapi: $(CLIENTS)/terraform/.installed
	folder=$$(go mod download -json $(AZAPI) | $(RUN) -c 'import json, sys; print(json.load(sys.stdin)["Dir"])') && \
	go build -C "$$folder" -mod=readonly -ldflags "-s -w" -o "$(abspath $@)" .

cloud-provider-client: $(CLIENTS)/cloud_provider/cloud-provider
$(CLIENTS)/cloud_provider/cloud-provider: $(wildcard tests/clients/cloud_provider/*)
	@mkdir -p $(@D)
	go build -C tests/clients/cloud_provider -mod=readonly -ldflags "-s -w" -o "$(abspath $@)" .

test-real: $(CORE)
	$(RUN) -m pytest $(if $(SMOKE),$(REAL_SMOKE),$(REAL_SCENARIOS)) --karpenter simulated,real -n $(WORKERS) -q $(if $(REPORT),--junitxml=$(REPORT)) $(ARGS)
	$(if $(SMOKE),,$(RUN) -m pytest scenarios/lifecycle/provision-modes.yaml --karpenter simulated,real --cluster apiserver -q $(ARGS))
	$(RUN) -m pytest tests/real -n $(WORKERS) $(if $(SMOKE),-m smoke) --durations=5 $(ARGS)

stories: $(CLUSTERS)
	$(RUN) -m tests.clusters.stories --cases $(CASES) --seed $(SEED) $(if $(RECORD),--record) $(ARGS)

clean-clusters: $(CLUSTERS)
	$(RUN) -m harness.clusters.clean

conformance: $(CORE)
	$(RUN) -m tests.conformance run --cases $(CASES) --seed $(SEED) $(if $(RELEASES),--releases "$(RELEASES)") $(if $(OPS),--ops "$(OPS)")

upgrades: $(CORE)
	$(RUN) -m tests.upgrades --cases $(CASES) --seed $(SEED)

migrations: $(CORE)
	$(RUN) -m tests.migrate.moves --cases $(CASES) --seed $(SEED) $(ARGS)

properties: $(CORE)
	EXAMPLES=$(EXAMPLES) $(RUN) -m pytest tests/disruption/test_weeks.py -n $(WORKERS) $(ARGS)

golden: $(CORE)
	$(RUN) -m tests.conformance golden $(if $(RELEASES),--releases "$(RELEASES)")

record-labels: $(CORE)
	$(RUN) -m tests.conformance record-labels $(if $(RELEASES),--releases "$(RELEASES)")

mutations: $(CORE)
	$(RUN) -m tests.corpus.mutations $(if $(RELEASES),--releases "$(RELEASES)") $(ARGS)

mutants: $(CORE)
	$(RUN) -m tests.mutants --changes $(N) --seed $(SEED) $(ARGS)

fuzz: $(CORE)
	$(RUN) -m tests.transports.fuzz --requests $(REQUESTS) --seed $(SEED) $(ARGS)
	$(RUN) -m tests.cloud.foreign --changes $(CHANGES) --seed $(SEED)

bench: $(CORE)
	WEEKS=$(WEEKS) $(RUN) -m pytest benchmarks -o addopts=--import-mode=importlib $(ARGS)

schema: $(CORE)
	$(RUN) -m harness schema --into harness/scenario
	$(RUN) -m harness schema --reference > docs/reference/scenario.md.new
	mv docs/reference/scenario.md.new docs/reference/scenario.md

site: $(CORE)
	$(call install,site,crds$(comma)dev$(comma)site)
	$(RUN) -m tools.site build/pages
	$(VENV)/bin/zensical build --strict --clean

test-browser: $(CORE)
	PIP_CONSTRAINT=constraints.txt $(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[browser,crds,dev]'
	$(RUN) -m pytest tests/browser --run-browser -rs -q $(if $(SMOKE),-m smoke) $(ARGS)

test-editors: $(CORE) tests/editors/node_modules
	$(RUN) -m pytest tests/editors -rs -q $(ARGS)

tests/editors/node_modules: tests/editors/package-lock.json
	npm ci --prefix tests/editors --no-fund --no-audit
	@touch $@

picture: picture/node_modules
	node picture/build.mjs

readme-picture: $(CORE)
	PIP_CONSTRAINT=constraints.txt $(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[browser,crds,dev]'
	$(RUN) -m tools.readme_picture

picture-check: picture/node_modules
	@folder=$$(mktemp -d) && node picture/build.mjs "$$folder" && diff -r "$$folder" harness/reports/picture/built; code=$$?; rm -r "$$folder"; exit $$code

picture/node_modules: picture/package-lock.json
	npm ci --prefix picture --no-fund --no-audit
	@touch $@

playground: $(CORE) playground/node_modules
	$(RUN) -m tools.playground build/playground
	node playground/build.mjs build/playground
	@if [ -d build/site ]; then rm -rf build/site/playground && cp -r build/playground build/site/; fi

playground/node_modules: playground/package-lock.json
	@command -v npm >/dev/null || { echo "make: the playground needs Node 20 or later with npm" >&2; exit 1; }
	npm ci --prefix playground --no-fund --no-audit
	@touch $@

# A Python of at least 3.11 that has venv, in a folder of its own; pip runs again only when the dependencies change.
$(RUN):
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14; do \
	  if command -v "$$python" >/dev/null 2>&1 && "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	    "$$python" -c 'import ensurepip, venv' 2>/dev/null || { echo "make: $$python has no venv: apt-get install python3-venv" >&2; exit 1; }; \
	    exec "$$python" -m venv $(VENV); \
	  fi; \
	done; echo "make: no Python of at least 3.11 found; name one: make PYTHON=..." >&2; exit 1

# With LOCKED=1, as in CI, each file is one whose hash is written down; without it any index will do.
INSTALL = $(RUN) -m pip install --quiet --disable-pip-version-check
install = $(if $(LOCKED),$(INSTALL) --require-hashes -r requirements/$(1).txt && $(INSTALL) --no-deps --no-build-isolation --editable .,PIP_CONSTRAINT=constraints.txt $(INSTALL) --editable '.[$(2)]')

$(CORE): pyproject.toml constraints.txt | $(RUN)
	$(call install,test,crds$(comma)dev)
	@touch $@

$(CLUSTERS): $(CORE)
	$(call install,clusters,crds$(comma)clusters$(comma)dev)
	@touch $@

wheel: $(CORE)
	$(RUN) -m build --wheel --no-isolation --outdir dist

requirements: $(CORE)
	$(INSTALL) 'uv==0.13.9'
	$(RUN) -m tools.requirements

clean:
	rm -rf $(VENV) $(CLIENTS) picture/node_modules playground/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks build dist reports
	find harness fakeazure tests scenarios benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null; true
