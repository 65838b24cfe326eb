# The commands of this project. Each does its own set-up, system packages included.
#
#   make demo     the main job, end to end, checked at every step
#   make check    what to run after each edit: under a minute once built
#   make test     all that a change can break, in samples where the whole is long: under ten minutes
#                 once built
#   make long     every test: campaigns, mutants and combinations whole; the tests of `make check`
#                 also with clang, with traps on undefined behaviour, hardened, for AArch64 and
#                 against musl; those of the Swift modules also with two sanitizers; PART=n runs one
#                 of the parts of Tests/parts.txt; the outcome goes to Tests/LONG.md
#   make faults   every way to die, of the C and of the Swift build, and what must be known
#                 afterwards; FILTER=regex selects
#   make docs     the pages of the modules, with the toolchain's docc
#   make bench    measurements, as ratios within one run; installs the libraries to compare with
#                 (see scripts/install-packages)
#   make install  library, headers, all programs, man pages and completions of shells, to PREFIX
#                 (default /usr/local); without a Swift toolchain, or with TOOL=OFF, all but the
#                 tool
#   make uninstall    removes from PREFIX what was installed there
#   make deb      the Debian packages, checked by lintian, in build/deb
#   make clean

PREFIX ?= /usr/local
TOOL ?= ON
SWIFT ?= swift
JOBS ?= $(shell nproc)
FILTER ?=
PART ?=

# Each run draws and orders the same; `make long` draws anew (Tests/README.md).
export PYTHONHASHSEED := 0
export SWIFT_DETERMINISTIC_HASHING := 1
export LAUNCHGUARD_STRICT := 1
long: export LAUNCHGUARD_SEED := $(or $(LAUNCHGUARD_SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))

CMAKE_BUILD = cmake --preset $(1) $(3) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }; \
	cmake --build build/$(1) -j $(JOBS) $(2) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
WITH_SWIFT = -DLAUNCHGUARD_SWIFT="$$(command -v '$(SWIFT)')"
SWIFT_BUILD = $(SWIFT) build -j $(JOBS) $(2) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
# As a program is shipped: optimised, with the Swift libraries inside.
RELEASE = --package-path Tools -c release --static-swift-stdlib --product launchguard-faults

.PHONY: all demo check test long faults docs bench install uninstall deb clean packages core demo-programs swift swift-tests

all: core swift

packages:
	@scripts/install-packages
	@command -v $(SWIFT) >/dev/null || { echo "A Swift toolchain is needed, version 6.2 or newer: https://www.swift.org/install/linux/" >&2; exit 1; }
	@mkdir -p build

core: packages
	@echo "Building the core"
	@$(call CMAKE_BUILD,gcc,,$(WITH_SWIFT))

swift: packages
	@echo "Building the Swift modules and the tool (the first time takes a minute or two)"
	@$(call SWIFT_BUILD,swift,--package-path Tools)

swift-tests: swift
	@echo "Building the tests of the Swift modules"
	@$(call SWIFT_BUILD,swift-tests,--build-tests)
	@$(call SWIFT_BUILD,swift-tools-tests,--build-tests --package-path Tools)
	@echo "Building the ways to die of the Swift build once more, as programs are shipped"
	@$(call SWIFT_BUILD,swift-release,$(RELEASE))

# Nothing where it was not built, for lack of its libraries.
AGENT = $$(ls build/gcc/Sources/launchguard-agent/launchguard-agent 2>/dev/null)

demo-programs: packages
	@echo "Building the core"
	@$(call CMAKE_BUILD,gcc,--target demo-programs,$(WITH_SWIFT))

demo: demo-programs swift
	@TOOL=Tools/.build/debug/launchguard NOTES=Tools/.build/debug/notes-swift AGENT=$(AGENT) Examples/demo.sh
	@TOOL=Tools/.build/debug/launchguard NOTES=build/gcc/Examples/notes-c/notes AGENT=$(AGENT) Examples/demo.sh --quiet

check: packages
	@$(call CMAKE_BUILD,gcc,--target check-programs,$(WITH_SWIFT))
	scripts/run-tests build/gcc -L '^check$$'

test: core swift-tests
	scripts/run-tests build/gcc -LE '^long$$'

long: core swift-tests
	@scripts/install-packages long
	@scripts/install-packages table
	@$(call CMAKE_BUILD,gcc,--target benchmarks,$(WITH_SWIFT))
	@echo "LAUNCHGUARD_SEED=$$LAUNCHGUARD_SEED make long draws the same again"
	scripts/long build/gcc $(PART)

faults: core swift-tests
	python3 -B Tests/Faults/run_faults.py --dump build/gcc/Tests/Format/format-dump --filter '$(FILTER)' --cross \
		build/gcc/Tools/Sources/CLaunchGuardFaults/launchguard-faults Tools/.build/debug/launchguard-faults Tools/.build/release/launchguard-faults

docs: packages
	@echo "Building the pages of the modules (the first time takes a minute or two)"
	@SWIFT=$(SWIFT) scripts/build-docs

bench: packages
	@scripts/install-packages peers
	@echo "Building the core with gcc, and the peers"
	@$(call CMAKE_BUILD,gcc,--target all benchmarks,$(WITH_SWIFT))
	@cmake --build build/gcc -j $(JOBS) --target peers -- -k 0 >build/peers.log 2>&1 || echo "Not every peer could be built: build/peers.log" >&2
	@(for product in bench-log-swift bench-guards-swift launchguard launchguard-run launchguard-fleet; do $(SWIFT) build -j $(JOBS) --package-path Tools -c release --static-swift-stdlib --product $$product || exit; done) >build/bench-swift.log 2>&1 || echo "A benchmark in Swift or the tool could not be built: build/bench-swift.log" >&2
	@Benchmarks/run.sh build/gcc
	@echo "Benchmarks/write_figures.py puts these tables into docs/BENCHMARKS.md"

install:
	@scripts/install-packages build
	@mkdir -p build
	@echo "Building all that is installed (the tool takes some minutes the first time)"
	@$(call CMAKE_BUILD,release,,-DLAUNCHGUARD_TOOL=$(TOOL) $(WITH_SWIFT) -DCMAKE_INSTALL_PREFIX="$$(realpath -ms '$(PREFIX)')")
	@DESTDIR='$(DESTDIR)' scripts/install-tree install build/release '$(PREFIX)'

deb:
	@scripts/install-packages deb
	@scripts/build-deb

uninstall:
	@DESTDIR='$(DESTDIR)' scripts/install-tree uninstall '$(PREFIX)'

clean:
	rm -rf build .build .build-docs .build-thread .build-address Tools/.build Tools/.build-thread Tools/.build-address
