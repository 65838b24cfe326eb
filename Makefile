# The commands of this project. Each does its own set-up, system packages included.
#
#   make demo     the main job, end to end, checked at every step
#   make check    what to run after each edit: under a minute once built
#   make test     all that a change can break, in drawn samples where the whole is long: under ten
#                 minutes once built
#   make long     every campaign, mutant and combination, with gcc and with clang, the tests of
#                 `make check` with traps on undefined behaviour, for AArch64 and against musl, and
#                 those of the Swift module with two sanitizers: long
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

# Most tests wait most of the time: a test that keeps a core busy says so (Tests/CMakeLists.txt).
TEST_JOBS ?= $(shell echo $$((4 * $(JOBS))))
# Some tests end a program by Ctrl-C. A signal that make ignores would be ignored in the program.
HEEDING = env --default-signal=INT,QUIT
# Without what an earlier run took and where it failed, tests begin in the order of the tree.
CTEST = rm -rf build/$(1)/Testing/Temporary && \
	$(HEEDING) ctest --test-dir build/$(1) -j $(TEST_JOBS) --output-on-failure --no-tests=error

# Each run draws and orders the same; `make long` draws anew (Tests/README.md).
export PYTHONHASHSEED := 0
export SWIFT_DETERMINISTIC_HASHING := 1
long: export LAUNCHGUARD_SEED := $(or $(LAUNCHGUARD_SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))

CMAKE_BUILD = cmake --preset $(1) $(3) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }; \
	cmake --build build/$(1) -j $(JOBS) $(2) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }

FILTER ?=

# Each by itself: tests that wait for programs keep the threads of the pool, for which those of the
# launches wait as well.
SWIFT_TEST = $(HEEDING) $(SWIFT) test -j $(JOBS) --disable-xctest
SWIFT_TESTS = $(SWIFT_TEST) --filter '^LaunchGuardTests\.' && $(SWIFT_TEST) --package-path Tools && \
	$(SWIFT_TEST) --filter '^LaunchGuardGuardsTests\.'

WITH_TOOL = --tool Tools/.build/debug/launchguard
WITH_PRELOAD = --preload build/gcc/Sources/launchguard-preload/launchguard-preload.so

# Programs of the catalogue as arguments. The core kinds are also run with every combination of
# modifiers, or with a sample of them.
RUN_ENTRIES = python3 -B Tests/Faults/run_faults.py --dump build/gcc/Tests/Format/format-dump --filter '$(FILTER)'
RUN_FAULTS = $(RUN_ENTRIES) --cross
RUN_HOST = python3 -B Tests/Guards/test_plugin_host.py --dump build/gcc/Tests/Format/format-dump
# The operator's commands, on programs that end.
RUN_OPERATOR = for test in witness doctor supervisors $(1); do \
	python3 -B Tests/Operator/test_$$test.py $(WITH_TOOL) $(WITH_PRELOAD) --victim build/gcc/Tests/Operator/operator-victim || exit 1; done
RUN_PROGRAMS = python3 -B Tests/Run/test_run.py Tools/.build/debug/launchguard build/gcc/Sources/launchguard-preload/launchguard-preload.so

# The recipes of the cookbook; what others read of an export (readers from PyPI and lldb, a browser,
# systemd's programs, the Swift runtime's own log); functions and lines of programs that nobody
# prepared; a fleet in a database, on pages and at servers; Swift's own backtracer beside
# LaunchGuard. As many at a time as there are cores, and the words of each together.
BESIDE = test-backtracer-debug test-backtracer-release test-symbols test-servers test-export test-page test-fleet test-journal \
	test-fleet-pages test-beyond test-cookbook test-swift-log test-compose
RUN_BESIDE = $(HEEDING) $(MAKE) --no-print-directory --output-sync=target -j $(JOBS) $(BESIDE)
SWIFT_DEBUG = Tools/.build/debug/launchguard-faults
SWIFT_RELEASE = Tools/.build/release/launchguard-faults

# As a program is shipped: optimised, with the Swift libraries inside. Traps have no messages there.
RELEASE = --package-path Tools -c release --static-swift-stdlib --product launchguard-faults

# The tests of the Swift modules with a sanitizer. They look at deaths by a signal, which the
# sanitizer leaves alone; any report of it fails. With ThreadSanitizer the tool takes a second to
# start, so that its tests run by themselves.
DEATHS = handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_sigtrap=0:handle_abort=0
SANITIZED = rm -f build/$(3)-report.*; $(1)_OPTIONS="$(DEATHS):$(4):log_path='$(CURDIR)/build/$(3)-report'" \
	$(HEEDING) $(SWIFT) test -j $(JOBS) --disable-xctest --sanitize=$(2) --scratch-path '$(CURDIR)/$(if $(findstring Tools,$(5)),Tools/).build-$(3)' --disable-build-manifest-caching \
		$(5) || exit 1; \
	if cat build/$(3)-report.* 2>/dev/null; then exit 1; fi

# The core and its tests with another compiler. $(2): folder, architecture and packages. Where these
# cannot be had, the step says so and is left out.
FOREIGN = if scripts/install-packages $(1) && set -- $(2) && folder=$$1 && architecture=$$2 && shift 2 && \
		scripts/foreign-packages $$architecture build/$$folder "$$@"; then \
		$(call CMAKE_BUILD,$(1),--target check-programs) && $(call CTEST,$(1)) -L '^check$$'; \
	else echo "left out: what it needs could not be installed" >&2; fi

TSAN_ALSO = exitcode=0:print_suppressions=0:suppressions='$(CURDIR)/Tests/tsan.supp'

.PHONY: all demo check test test-core test-swift $(BESIDE) long faults docs bench peers install uninstall deb clean packages packages-long core-gcc core-clang core-undefined swift swift-release

all: core-gcc swift

packages:
	@scripts/install-packages
	@command -v $(SWIFT) >/dev/null || { echo "A Swift toolchain is needed, version 6.2 or newer: https://www.swift.org/install/linux/" >&2; exit 1; }
	@mkdir -p build

core-gcc: packages
	@echo "Building the core with gcc"
	@$(call CMAKE_BUILD,gcc)

# The core traps on undefined behaviour, which a null pointer to memcpy() is.
core-undefined: packages
	@echo "Building the core once more, with traps on undefined behaviour"
	@$(call CMAKE_BUILD,undefined,--target check-programs)

core-clang: packages
	@echo "Building the core with clang"
	@$(call CMAKE_BUILD,clang)

swift: packages
	@echo "Building the Swift modules and the tool (the first time takes a minute or two)"
	@$(SWIFT) build -j $(JOBS) --package-path Tools >build/swift.log 2>&1 || { cat build/swift.log; exit 1; }

swift-release: packages
	@echo "Building the ways to die of the Swift build once more, as programs are shipped"
	@$(SWIFT) build -j $(JOBS) $(RELEASE) >build/swift-release.log 2>&1 || { cat build/swift-release.log; exit 1; }

# The agent for the demo; empty where it was not built, for lack of its libraries.
AGENT = $$(ls build/gcc/Sources/launchguard-agent/launchguard-agent 2>/dev/null)

demo: core-gcc swift
	@TOOL=Tools/.build/debug/launchguard NOTES=Tools/.build/debug/notes-swift AGENT=$(AGENT) Examples/demo.sh
	@TOOL=Tools/.build/debug/launchguard NOTES=build/gcc/Examples/notes-c/notes AGENT=$(AGENT) Examples/demo.sh --quiet

check: packages
	@$(call CMAKE_BUILD,gcc,--target check-programs)
	@$(call CTEST,gcc) -L '^check$$'

test: test-core test-swift

# With clang only what `make check` runs. The Swift package builds the same core with clang, and
# every way to die is run with it.
test-core: core-gcc core-clang
	$(call CTEST,gcc) -LE '^long$$'
	$(call CTEST,clang) -L '^check$$'

test-swift: core-gcc swift swift-release
	$(SWIFT_TESTS)
	$(RUN_HOST) Tools/.build/debug/plugin-host-swift
	$(RUN_PROGRAMS)
	$(RUN_OPERATOR)
	$(RUN_FAULTS) --sample 60 --failures $(SWIFT_DEBUG)
	$(RUN_ENTRIES) --failures $(SWIFT_RELEASE)
	@$(RUN_BESIDE)

test-cookbook:
	python3 -B Tests/Cookbook/test_cookbook.py $(WITH_TOOL) --programs build/gcc/Examples $(if $(LONG),--server)

test-export:
	python3 -B Tests/Export/test_export.py $(WITH_TOOL) --victim build/gcc/Tests/Export/export-victim

test-servers:
	python3 -B Tests/Export/test_servers.py $(WITH_TOOL) --victim build/gcc/Tests/Export/server-victim --agent build/gcc/Sources/launchguard-agent/launchguard-agent

# The tests with the core that need the tool as well.
test-compose:
	COMPOSE_DUMP=build/gcc/Tests/Delivery/Report/compose-dump SECRETS=build/gcc/Tests/Delivery/Report/report-secrets \
		FAULTS=build/gcc/Tools/Sources/CLaunchGuardFaults/launchguard-faults TOOL=Tools/.build/debug/launchguard \
		python3 -B Tests/Delivery/Report/test_compose.py

test-symbols:
	python3 -B Tests/Symbols/test_symbols.py $(WITH_TOOL) $(WITH_PRELOAD) --swiftc $(SWIFT)c $(if $(LONG),--reports 1000)

test-page:
	python3 -B Tests/Export/test_html.py $(WITH_TOOL) --victim build/gcc/Tests/Export/page-victim --browser build/page-browser

test-journal:
	python3 -B Tests/Export/test_journal.py $(WITH_TOOL) --victim build/gcc/Tests/Export/journal-victim

test-fleet:
	python3 -B Tests/Fleet/test_fleet.py $(WITH_TOOL) --victim build/gcc/Tests/Fleet/fleet-victim --copies build/gcc/Tests/Fleet/fleet-copies $(if $(LONG),--long)

test-fleet-pages:
	python3 -B Tests/Fleet/test_fleet_html.py $(WITH_TOOL) --victim build/gcc/Tests/Fleet/fleet-victim --copies build/gcc/Tests/Fleet/fleet-copies \
		--browser build/page-browser

test-beyond:
	python3 -B Tests/Fleet/test_beyond.py $(WITH_TOOL) --victim build/gcc/Tests/Delivery/delivery-victim \
		--agent build/gcc/Sources/launchguard-agent/launchguard-agent --entries build/gcc/Tests/Delivery/delivery-entries

test-swift-log:
	python3 -B Tests/Export/test_swift_log.py $(WITH_TOOL) $(WITH_PRELOAD) --victim build/gcc/Tests/Export/journal-victim

test-backtracer-debug:
	python3 -B Tests/Faults/run_backtracer.py --dump build/gcc/Tests/Format/format-dump $(SWIFT_DEBUG)

test-backtracer-release:
	python3 -B Tests/Faults/run_backtracer.py --dump build/gcc/Tests/Format/format-dump $(SWIFT_RELEASE)

packages-long:
	@scripts/install-packages long

long: packages-long core-gcc core-clang core-undefined swift swift-release
	@echo "LAUNCHGUARD_SEED=$$LAUNCHGUARD_SEED make long draws the same again"
	@echo "1 of 11: the core with gcc"
	$(call CTEST,gcc)
	@echo "2 of 11: the core with clang"
	$(call CTEST,clang)
	@echo "3 of 11: the core with traps on undefined behaviour"
	$(call CTEST,undefined) -L '^check$$'
	@echo "4 of 11: the Swift modules"
	LAUNCHGUARD_LONG=1; export LAUNCHGUARD_LONG; $(SWIFT_TESTS)
	$(RUN_HOST) Tools/.build/debug/plugin-host-swift
	$(RUN_PROGRAMS) --services
	$(call RUN_OPERATOR,booted container)
	@$(RUN_BESIDE) LONG=1
	@echo "5 of 11: the pages of the modules"
	SWIFT=$(SWIFT) scripts/build-docs
	@echo "6 of 11: the ways to die of the Swift build, with every combination of modifiers"
	$(RUN_FAULTS) --failures $(SWIFT_DEBUG)
	@echo "7 of 11: the same of its release build"
	$(RUN_FAULTS) --failures $(SWIFT_RELEASE)
	@echo "8 of 11: the Swift modules with ThreadSanitizer"
	$(call SANITIZED,TSAN,thread,tsan,$(TSAN_ALSO),--filter '^LaunchGuardTests\.')
	$(call SANITIZED,TSAN,thread,tsan,$(TSAN_ALSO),--package-path Tools)
	$(call SANITIZED,TSAN,thread,tsan,$(TSAN_ALSO),--filter '^LaunchGuardGuardsTests\.')
	@echo "9 of 11: the Swift modules with AddressSanitizer"
	$(call SANITIZED,ASAN,address,asan,detect_leaks=0)
	$(call SANITIZED,ASAN,address,asan,detect_leaks=0,--package-path Tools)
	@echo "10 of 11: the core for AArch64, under emulation"
	@$(call FOREIGN,aarch64,foreign-arm64 arm64 libcmocka-dev libcmocka0 libunwind-dev libunwind8 liblzma5)
	@echo "11 of 11: the core against musl"
	@$(call FOREIGN,musl,foreign-source source cmocka)

faults: core-gcc swift swift-release
	$(RUN_FAULTS) build/gcc/Tools/Sources/CLaunchGuardFaults/launchguard-faults $(SWIFT_DEBUG) $(SWIFT_RELEASE)

docs: packages
	@echo "Building the pages of the modules (the first time takes a minute or two)"
	@SWIFT=$(SWIFT) scripts/build-docs

peers: packages
	@scripts/install-packages peers

bench: peers
	@echo "Building the core with gcc, and the peers"
	@$(call CMAKE_BUILD,gcc)
	@cmake --build build/gcc -j $(JOBS) --target peers -- -k 0 >build/peers.log 2>&1 || echo "Not every peer could be built: build/peers.log" >&2
	@(for product in bench-log-swift bench-guards-swift launchguard launchguard-fleet; do $(SWIFT) build -j $(JOBS) --package-path Tools -c release --product $$product || exit; done) >build/bench-swift.log 2>&1 || echo "A benchmark in Swift or the tool could not be built: build/bench-swift.log" >&2
	@Benchmarks/run.sh build/gcc

install:
	@scripts/install-packages build
	@mkdir -p build
	@echo "Building all that is installed (the tool takes some minutes the first time)"
	@$(call CMAKE_BUILD,release,,-DLAUNCHGUARD_TOOL=$(TOOL) $(if $(filter-out swift,$(SWIFT)),-DLAUNCHGUARD_SWIFT='$(SWIFT)') -DCMAKE_INSTALL_PREFIX="$$(realpath -ms '$(PREFIX)')")
	@DESTDIR='$(DESTDIR)' scripts/install-tree install build/release '$(PREFIX)'

deb:
	@scripts/install-packages deb
	@scripts/build-deb

uninstall:
	@DESTDIR='$(DESTDIR)' scripts/install-tree uninstall '$(PREFIX)'

clean:
	rm -rf build .build .build-docs .build-tsan .build-asan Tools/.build Tools/.build-tsan Tools/.build-asan
