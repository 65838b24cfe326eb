"""The table of programs (row.py says what a row has). A text is a script of sh. $FACTS is a program
that prints what a process finds when it starts (facts.c), statically linked: it shows what a
program hands on. $PROGRAM is the same with shared libraries."""
from row import Row

# ---- on a terminal ----

PROMPT = ("expect", "$ ")
CTRL_C, CTRL_D, CTRL_Z, QUIT = "\x03", "\x04", "\x1a", "\x1c"


def typed(text, prompt=PROMPT):
    return (("send", text + "\n"), prompt)


def jobs(job="sleep 1000", stopped="topped", prompt=PROMPT):
    """Job control of an interactive shell: stop, go on, interrupt; a job in the background."""
    return (prompt, ("send", job + "\n"), ("foreground", "sleep"), ("runs", "sleep"), ("send", CTRL_Z), ("stops", "sleep"), ("expect", stopped), prompt,
            ("send", "fg\n"), ("foreground", "sleep"), ("runs", "sleep"), ("send", CTRL_C), ("ends", "sleep"), prompt,
            *typed("echo status $?", prompt), ("send", job + " &\n"), prompt, ("runs", "sleep"), *typed("kill %1; wait", prompt),
            *typed("$FACTS group", prompt), *typed("echo a b c | tr a-z A-Z", prompt), ("send", "exit 5\n"))


# Whether a shell says so depends on what it looks at first.
TERMINATED = ((r"(?m)^.*Terminated.*\n?", ""),)
SHELL_TEST = r'''
    trap 'echo bye' EXIT; trap '' USR1; trap 'echo usr2' USR2; kill -USR1 $$; kill -USR2 $$
    "$FACTS" | cat; (exit 3); echo $?; yes 2>/dev/null | head -n 1; x=$(echo sub); echo $x; seq 10 | while read i; do echo $i; done | tail -n 1
    sh -c 'kill -TERM $$; sleep 100' & wait $!; echo $?; sh -c 'kill -TERM $$'; echo $?; echo words >&2; exit 4
    '''

ROWS = [
    # ---- what a program is given ----
    Row("facts", ["$PROGRAM"], short=True),
    Row("facts: signals, limits, umask, nice", "trap '' HUP QUIT USR1 PIPE; umask 077; ulimit -n 300; ulimit -s 4096; ulimit -f 100000; cd /; exec nice -n 5 under \"$PROGRAM\"",
        short=True, is_outer=True),
    Row("facts: descriptors", "exec 7</dev/null 8>&1 9<>file 200<. ; exec under \"$PROGRAM\" descriptors", short=True, is_outer=True),
    Row("facts: closed standard streams", "for way in '<&-' '>&- 3>&1' '2>&-' '<&- 2>&-'; do echo \"$way\"; eval \"under \\$PROGRAM descriptors $way\"; echo $?; done", is_outer=True),
    Row("facts: streams that are files", "under $PROGRAM descriptors 2>errors; under $PROGRAM descriptors >output 2>&1; cat output; rm output", is_outer=True,
        known=((r"descriptor [12]: ", "standard error is a pipe where it was no terminal, and standard output where both lead to one place"),)),
    Row("facts of a child", ["sh", "-c", '"$FACTS"; "$PROGRAM" | cat; exec "$FACTS"'], short=True),
    Row("signals that are blocked and ignored", ["python3", "-c", """
import os, signal, subprocess
fatal = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS, signal.SIGQUIT, signal.SIGTERM}
facts = [os.environ["FACTS"], "signals"]
for number in fatal: signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, fatal)
subprocess.run(facts)
os.system("$FACTS signals"); os.waitpid(os.posix_spawn(facts[0], facts, os.environ), 0)
print(os.popen("$FACTS signals").read(), flush=True)
try: os.execv("/nowhere", facts)
except OSError as error: print(error, flush=True)
child = os.fork()
if child == 0: os.execv(facts[0], facts)
os.waitpid(child, 0)
signal.signal(signal.SIGFPE, signal.SIG_DFL)
os.execv(facts[0], facts)"""], short=True),
    Row("signals that are ignored from the start", "trap '' SEGV FPE ABRT BUS ILL TRAP SYS; exec under sh -c '$FACTS signals; $PROGRAM signals; kill -SEGV $$; echo alive'", is_outer=True, short=True),
    Row("a healthy start with little", "mkdir gone; cd gone; rmdir ../gone; exec env -i $(command -v under) \"$PROGRAM\" environment", is_outer=True, short=True),
    Row("limits: size of files", "ulimit -f 0; under sh -c 'echo a; echo b | cat; (exit 3); echo $?; true; ulimit -f'; echo $?; under sh -c 'echo x >file; echo $?'; echo $?", is_outer=True, short=True),
    Row("limits: stack", "for n in 100 200 unlimited; do (ulimit -s $n; under perl -e 'system(\"true\"); print $?, \"\\n\"; exit 3'; echo $?); done", is_outer=True, needs="perl"),
    Row("limits: locked memory", ["./a"], user="nobody", before=r"""cat >a.c <<'END'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static void *work(void *none) { return none; }
int main(void) { pthread_t thread; int result = mlockall(MCL_CURRENT | MCL_FUTURE); printf("%d %s\n", result, result ? strerror(errno) : ""); result = pthread_create(&thread, NULL, work, NULL);
    printf("%d %p\n", result, result ? NULL : (void *)(long)pthread_join(thread, NULL)); free(malloc(1 << 20)); return 3; }
END
cc -pthread -o a a.c""", known=((r"output: ", "the library maps more memory than may be locked"),)),
    Row("descriptors of the run are taken", ["bash", "-c", "seq 100 >file; for i in 95{0..9} 96{0..9} 97{0..9}; do eval \"exec $i<>file\"; done; (exit 3); echo $?; $FACTS descriptors | cksum; cat <&963 | cksum; exit 4"],
        known=((r"output: ", "bash takes the descriptors of the run for its own, as each is closed by an execution, and puts them back"),)),
    Row("all descriptors are closed", ["python3", "-c", "import os, sys\nos.closerange(3, 5000); os.system('exit 3'); child = os.fork()\nif child == 0: os.closerange(0, 5000); os._exit(6)\nprint(os.waitpid(child, 0)[1]); f = [os.open('/dev/null', 0) for i in range(990)]; print(f[-1]); sys.exit(4)"]),
    Row("an orphan", "under sh -c 'sh -c \"(until [ -e go ]; do sleep 0.02; done; cut -d\\\" \\\" -f4 /proc/self/stat >parent) &\"; : >go; until [ -s parent ]; do sleep 0.02; done; p=$(ps -o ppid= -p $(cat parent)); [ $p -le 1 ] && echo of process 1'; rm -f go parent", needs="ps", is_outer=True, needs_root=True,
        known=((r"output: ", "an orphan becomes a child of the tool"),)),
    Row("a signal for the group", ["sh", "-c", "trap 'echo asked' TERM USR1; kill 0; kill -USR1 0; echo after; (exit 3); echo $?; kill -KILL 0"], deaths=("sh killed SIGKILL",)),
    Row("a large environment", ["perl", "-e", "$ENV{\"V$_\"} = $_ for 1 .. 3000; system('busybox', 'true'); print $?, \"\\n\"; system('true'); print $?, \"\\n\"; print `env | grep -c ^V`; exec 'busybox', 'sh', '-c', 'exit 3'"], needs="busybox", has_run=False),
    Row("ldd", ["ldd", "/bin/true"], masks=((r"0x\w+", "#"),), known=((r"output: .*launchguard-preload", "ldd lists the library that is loaded"),)),
    Row("a core file", ["bash", "-c", "ulimit -c unlimited; under ./die; echo $?; ls | sed 's/[0-9]//g'; rm -f core*"], is_outer=True, before="cc -o die -x c - <<'END'\nint *volatile nowhere;\nint main(void) { return *nowhere; }\nEND", deaths=("die crash SIGSEGV",),
        known=((r"errors: .*(core dumped|Segmentation)", "a shell does not learn from the tool that there is a core file"),)),
    Row("limits: open files", "for n in 3 4 5 8 16; do (ulimit -n $n; under sh -c 'echo a; (exit 3); echo $?'; echo $?); done", is_outer=True),
    Row("limits: address space", "ulimit -v 400000; under perl -e 'my $x = \"a\" x 1e8; print length $x, \"\\n\"; system(\"true\"); print $?, \"\\n\"; $x = \"a\" x 1e9'; echo $?; under python3 -c '"
        "import threading\nt = [threading.Thread(target=print, args=(i,)) for i in range(3)]\nfor x in t: x.start(); x.join()'; echo $?", is_outer=True, needs="perl python3"),
    Row("signals from the start", ["python3", "-c", """
import os, signal
for number in signal.SIGCHLD, signal.SIGTSTP, signal.SIGTTOU, signal.SIGPIPE: signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execvp("under", ["under", "sh", "-c", "$FACTS signals; (exit 3); echo $?; exit 4"])"""], is_outer=True, short=True),
    Row("signals from outside", ["bash", "-c", r"""
        signals='HUP INT QUIT USR1 USR2 TERM CONT WINCH URG IO ALRM SEGV FPE NUM40'
        under perl -e '$| = 1; for my $n (split " ", $ARGV[0]) { $SIG{$n} = sub { print "$n\n" } } $SIG{CHLD} = sub { exit 3 }; print "ready\n"; select undef, undef, undef, 0.02 while 1' "$signals" >out & tool=$!
        until grep -q ready out; do sleep 0.02; done 2>/dev/null
        for n in $signals; do kill -${n#NUM} $tool; until grep -q $n out; do sleep 0.02; done; done
        kill -CHLD $(pgrep -P $tool perl || echo $tool); wait $tool; echo $?; cat out; rm out"""], is_outer=True, short=True),
    Row("programs that cannot be started", "for program in /nowhere nothing . ./file ./empty ./odd; do echo 'no text' >file; : >empty; printf '#!/nowhere\n' >odd; chmod +x empty odd; under $program 2>/dev/null; echo $?; done", is_outer=True),
    Row("a script without a first line", "echo 'echo $0 $#; exit 3' >script; chmod +x script; under ./script a b; echo $?", is_outer=True),
    Row("a process that lives longer", "under sh -c '(until [ -e go ]; do sleep 0.02; done; echo late; echo late >&2) & echo first'; echo $?; : >go", is_outer=True),
    Row("much data", "seq 500000 | under cat | cksum; under sh -c 'seq 300000 >&2' 2>&1 | cksum; under seq 1000000 | head -n 1", is_outer=True),
    Row("strict seccomp", ["python3", "-c", """
import ctypes, os, sys
call = ctypes.CDLL(None).syscall
print("before", flush=True)
ctypes.CDLL(None).prctl(22, 1, 0, 0, 0)
os.write(1, b"within\\n")
call(60, 3)"""]),
    Row("a program of musl", "printf '#include <stdio.h>\\nint main(void) { puts(\"musl\"); return 3; }\\n' >a.c; musl-gcc -o a a.c && ./a; echo $?; rm a", needs="musl-gcc"),
    Row("env", ["env", "-i", "A=1", "$FACTS", "environment"]),

    # ---- shells ----
    Row("bash", ["bash", "-c", SHELL_TEST + "echo ${PIPESTATUS[*]}; cat <<< here; exec 5<> <(echo process)"], short=True, masks=TERMINATED),
    Row("dash", ["dash", "-c", SHELL_TEST], short=True, masks=TERMINATED, deaths=("perhaps dash unknown",)),
    Row("zsh", ["zsh", "-f", "-c", SHELL_TEST], masks=TERMINATED),
    Row("ksh", ["ksh", "-c", SHELL_TEST], masks=((r"_=\*\d+\*", "_="), *TERMINATED)),
    Row("busybox sh", ["busybox", "sh", "-c", SHELL_TEST], has_run=False, masks=TERMINATED),
    Row("fish", ["fish", "--no-config", "-c", "$FACTS | cat; false; echo $status; seq 10 | while read i; echo $i; end | tail -n 1; yes | head -n 1; exit 4"]),
    Row("bash at a terminal", ["bash", "--norc", "--noediting", "-i"], short=True, steps=jobs(), masks=TERMINATED),
    Row("dash at a terminal", ["dash", "-i"], steps=jobs(), masks=TERMINATED),
    Row("zsh at a terminal", ["zsh", "-f", "+Z", "-i"], steps=jobs(stopped="suspended"), masks=TERMINATED, environment={"PROMPT": "$ "}),
    Row("ksh at a terminal", ["ksh", "-i", "+o", "emacs", "+o", "vi", "+o", "multiline"], steps=jobs("/bin/sleep 1000", prompt=("expect", "$ ", "ksh")), masks=TERMINATED),
    Row("busybox sh at a terminal", ["busybox", "sh", "-i"], has_run=False, steps=jobs(), masks=TERMINATED),
    Row("a job of bash", ["bash", "--norc", "--noediting", "-i"], short=True, is_outer=True, steps=jobs("under sleep 1000"), masks=TERMINATED),
    Row("a job of zsh", ["zsh", "-f", "+Z", "-i"], is_outer=True, steps=jobs("under sleep 1000", stopped="suspended"), masks=TERMINATED, environment={"PROMPT": "$ "}),
    Row("a pipeline of jobs", ["bash", "--norc", "--noediting", "-i"], is_outer=True, steps=(
        PROMPT, ("send", "under sleep 1000 | under cat\n"), ("foreground", "sleep"), ("foreground", "cat"), ("runs", "cat"), ("send", CTRL_Z), ("stops", "sleep"),
        ("stops", "cat"), ("expect", "topped"), PROMPT, ("send", "fg\n"), ("runs", "cat"), ("runs", "sleep"), ("foreground", "cat"), ("send", CTRL_C), PROMPT,
        *typed("echo ${PIPESTATUS[*]}"), ("send", "exit\n"))),
    Row("timeout at a terminal", ["bash", "--norc", "--noediting", "-i"], is_outer=True, steps=(
        PROMPT, ("send", "under timeout 1000 sleep 1000\n"), ("runs", "sleep"), ("send", CTRL_C), ("ends", "sleep"), PROMPT, *typed("echo $?"),
        ("send", "under timeout --foreground 1000 sleep 1000\n"), ("runs", "sleep"), ("send", CTRL_C), ("ends", "sleep"), PROMPT, *typed("echo $?"),
        ("send", "exit\n"))),
    Row("a reader in the background", ["bash", "--norc", "--noediting", "-b", "-i"], is_outer=True, steps=(
        PROMPT, ("send", "under cat &\n"), ("stops", "cat"), ("expect", "topped"), ("send", "fg\n"), ("foreground", "cat"), ("runs", "cat"), ("send", "words\n"),
        ("expect", "words\r\nwords"), ("send", CTRL_D), PROMPT, ("send", "exit\n")), masks=((r"(?m)^(.*Stopped.*)?\n", ""),)),
    Row("quit at a terminal", ["bash", "--norc", "--noediting", "-i"], is_outer=True, steps=(
        PROMPT, ("send", "under sleep 1000\n"), ("foreground", "sleep"), ("runs", "sleep"), ("send", QUIT), ("ends", "sleep"), PROMPT, *typed("echo $?"),
        ("send", "exit\n"))),

    # ---- tools that start programs ----
    Row("timeout", "timeout 10 \"$FACTS\" group; timeout 0.1 sleep 100; echo $?; timeout -s KILL 0.1 sleep 100; echo $?; timeout 10 sh -c 'exit 3'; echo $?", short=True,
        deaths=("sleep killed SIGKILL", "timeout killed SIGKILL")),
    Row("timeout alone", ["timeout", "0.2", "sleep", "100"]),
    Row("setsid", ["setsid", "--wait", "$FACTS", "group"]),
    Row("setsid that forks", "under setsid sh -c '$FACTS group >out; echo done >>out'; until grep -q done out; do sleep 0.02; done 2>/dev/null; cat out", is_outer=True),
    Row("nohup", ["nohup", "$FACTS"]),
    Row("nice", ["nice", "-n", "7", "$FACTS"]),
    Row("stdbuf", ["stdbuf", "-o0", "sh", "-c", "$FACTS environment; echo $LD_PRELOAD | grep -c libstdbuf"]),
    Row("setpriv", ["setpriv", "--no-new-privs", "--", "sh", "-c", "$FACTS process; exit 2"]),
    Row("xargs", "seq 20 | xargs -n 3 -P 4 echo | sort; printf '%s\\n' a b | xargs -I{} sh -c 'echo {}; exit 1'; echo $?; seq 3 | xargs \"$FACTS\"", short=True),
    Row("find", "mkdir -p a/b; touch a/1 a/b/2; find . -type f -exec echo {} + -exec sh -c 'exit 1' \\; -print; find . -name 2 -execdir pwd \\; ; find /nowhere; echo $?", short=True),
    Row("script", ["script", "-qec", "$FACTS group; tty -s && echo terminal; exit 3", "typescript"], masks=((r"(typescript \d+ \S+) .*", r"\1"),)),
    Row("script at a terminal", ["script", "-qe", "-c", "bash --norc --noediting -i", "/dev/null"], steps=jobs(), masks=TERMINATED),
    Row("expect", ["expect", "-c", "spawn -noecho $::env(FACTS) group\nexpect eof\nputs [wait]\nspawn -noecho bash --norc --noediting -i\nexpect {\\$ }\nsend \"sleep 1000\\n\"\n"
                   "sleep 0.5\nsend \"\\003\"\nexpect {\\$ }\nsend \"exit 3\\n\"\nexpect eof\nputs [lindex [wait] 3]"], masks=((r"(?m)^\d+ exp\d+", "# exp"),)),
    Row("parallel", ["parallel", "--will-cite", "-k", "-j", "2", "echo {}; exit {}", ":::", "0", "1", "2", "0"], deaths=("perhaps sleep killed SIGKILL", "perhaps parallel killed SIGKILL")),
    Row("run-parts", "mkdir parts; printf '#!/bin/sh\\n$FACTS signals; exit 3\\n' >parts/one; cp parts/one parts/two; chmod +x parts/*; run-parts --report parts; echo $?", needs="run-parts"),
    Row("start-stop-daemon", "start-stop-daemon --start --background --make-pidfile --pidfile p --startas /bin/sleep -- 1000; until [ -s p ]; do sleep 0.02; done; "
        "start-stop-daemon --status --pidfile p; echo $?; start-stop-daemon --stop --retry 5 --pidfile p; echo $?; rm p", needs="start-stop-daemon", masks=((r"\d{3,}", "#"),)),
    Row("flock", ["flock", "lock", "sh", "-c", "$FACTS descriptors"]),
    Row("fakeroot", ["fakeroot", "sh", "-c", "id -u; touch f; chown 1:1 f; stat -c %u:%g f"], user="nobody"),
    Row("sudo", ["sudo", "-n", "--preserve-env=FACTS", "sh", "-c", "$FACTS; exit 3"], needs_root=True),
    Row("sudo that is refused", ["sudo", "-n", "true"], user="nobody", has_run=False),
    Row("su", ["su", "nobody", "-s", "/bin/sh", "-c", "id -u; $FACTS signals; exit 3"], needs_root=True),
    Row("runuser", ["runuser", "-u", "nobody", "--", "sh", "-c", "id -u; $FACTS process; exit 3"], needs_root=True),
    Row("unshare", ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc", "sh", "-c", "echo $$; id -u; $FACTS process; exit 3"]),
    Row("chroot", "mkdir -p root/bin; cp $(command -v busybox) root/bin/; chroot root /bin/busybox sh -c 'echo in; ls -a /; exit 3'; echo $?; chroot / bash -c 'echo $0; exit 4'",
        needs="busybox", needs_root=True),
    Row("bwrap", ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--die-with-parent", "sh", "-c", "echo $$; ls /proc/self/fd | wc -l; exit 3"]),
    Row("strace", "strace -f -o trace -e trace=exit_group sh -c 'true; exit 3'; echo $?; grep -c exit_group trace; rm trace", needs="strace",
        deaths=("perhaps strace killed SIGKILL",)),  # as that of gdb
    Row("ltrace", ["ltrace", "-o", "/dev/null", "-e", "exit", "/bin/true"]),
    Row("gdb", ["gdb", "-q", "-nx", "-batch", "-ex", "run", "-ex", "info inferiors", "--args", "/bin/sh", "-c", "exit 3"], masks=((r"process \d+", "process #"),),
        deaths=("perhaps gdb killed SIGKILL",)),  # a child by which it tries what the kernel can do
    Row("valgrind", ["valgrind", "-q", "--error-exitcode=9", "/bin/true"], has_run=False),

    # ---- tools ----
    Row("coreutils", "seq 1000 | sort -rn | uniq | split -l 300 - part; wc -l part*; sha256sum part* | md5sum; ls -la part*| wc -l; tac partaa | head -n 2; stat -c %a partaa; "
        "dd if=/dev/zero bs=1k count=3 status=none | wc -c; mkfifo f; cat f & echo through >f; wait; ln -s partaa l; readlink l; cp -a l m; test -L m; echo $?; nl partad | tail -n 1; false", short=True),
    Row("cat without a reader", ["bash", "-c", "cat /dev/zero | head -c 10 | od -An -tx1; echo ${PIPESTATUS[*]}"], short=True),
    Row("sed", ["sed", "-n", "s/a/b/;p;3q5"], input="a\nba\nc\nd\n", short=True),
    Row("awk", ["awk", 'BEGIN { while (("seq 3" | getline line) > 0) sum += line; print sum; print "to sort" | "sort"; close("sort"); system("$FACTS signals; exit 3"); exit 4 }'], short=True),
    Row("grep", ["grep", "-c", "b"], input="a\nb\nbb\n"),
    Row("tar", "mkdir d; seq 1000 >d/f; ln -s f d/l; for with in z J j; do tar -c${with}f a.tar --mtime=@1000000000 d && tar -tf a.tar && rm -r d && tar -xf a.tar && cksum d/f; done; tar -xf nothing.tar; echo $?",
        short=True, needs="xz bzip2 gzip", masks=((r"0\d{10}", "#"),)),
    Row("gzip, xz, zstd, bzip2", "for by in gzip 'xz -T2' 'zstd -q -T2' bzip2; do seq 100000 | $by -c | tee packed | $by -dc | cksum; echo x >>packed; $by -t packed 2>&1; echo $?; done", needs="xz zstd bzip2",
        known=()),
    Row("git", ["bash", "-ec", "export GIT_AUTHOR_DATE='1 Jan 2020 00:00:00' GIT_COMMITTER_DATE='1 Jan 2020 00:00:00' GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=a "
                "GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@b; git init -q -b main one; cd one; for i in 1 2 3; do seq $i >f; git add f; git commit -qm $i; done; git log --oneline | cat; "
                "cd ..; git clone -q one two; cd two; git gc -q; git fsck; git rev-parse HEAD; git -c core.pager=cat diff HEAD~1; git push -q origin main:other; git status -s; git nothing || echo $?"], short=True,
        masks=((r"tree", "tree"),)),
    Row("make", "printf 'all: a b\\na b: ; @echo $@; test -n \"$$FACTS\"\\nbad: ; exit 3\\nfacts: ; @$$FACTS\\n' >Makefile; make -s -j2 | sort; make -s facts; make bad; echo $?", short=True),
    Row("gcc", "printf '#include <stdio.h>\\nint main(void) { puts(\"built\"); return 3; }\\n' >a.c; gcc -O2 -pipe -o a a.c; ./a; echo $?; echo 'int x = ;' >bad.c; gcc -c bad.c; echo $?; rm a", short=True),
    Row("g++", "printf '#include <iostream>\\n#include <vector>\\nint main() { try { std::vector<int>().at(1); } catch (std::exception &e) { std::cout << e.what() << std::endl; } }\\n' >a.cc; "
        "g++ -o a a.cc; ./a; echo $?; rm a"),
    Row("clang", "printf 'int main(void) { return 3; }\\n' >a.c; clang -o a a.c; ./a; echo $?; rm a", needs="clang"),
    Row("cmake and ninja", "printf 'cmake_minimum_required(VERSION 3.10)\\nproject(p C)\\nadd_executable(p p.c)\\n' >CMakeLists.txt; echo 'int main(void) { return 3; }' >p.c; "
        "cmake -G Ninja -B b . >log; ninja -C b; b/p; echo $?; ninja -C b -t clean; rm -r b log", needs="cmake ninja", masks=((r"\d+ms|\(\d\.\d+s\)", "#"),)),
    Row("jq", ["jq", "-c", ".a | map(.+1)"], input='{"a": [1, 2]}'),
    Row("bc", ["bc", "-l"], input="scale=40; 4*a(1)\n2^100\n1/0\nquit\n"),
    Row("m4", ["m4"], input="define(`f', `$1$1')f(x)esyscmd(`$FACTS signals')syscmd(`exit 3')sysval\nm4exit(2)\n"),
    Row("bison and flex", "printf '%%%%\\ns: \\'\\''a\\'\\'';\\n%%%%\\n' | sed \"s/''/'/g\" >p.y; bison -o p.c p.y; echo $?; printf '%%%%\\na puts(\"a\");\\n%%%%\\n' | flex -t | cksum", needs="bison flex"),
    Row("sqlite3", ["sqlite3", "base"], input="create table t(a, b);\ninsert into t values (1, 2), (3, 4);\nselect sum(a*b) from t;\n.shell $FACTS signals\nselect nothing;\n"),
    Row("openssl", "openssl genpkey -algorithm ed25519 -out key; openssl req -new -x509 -key key -subj /CN=a -days 3 -out cert; openssl verify -CAfile cert cert; "
        "echo text | openssl enc -aes-256-cbc -pbkdf2 -pass pass:a -a | openssl enc -d -aes-256-cbc -pbkdf2 -pass pass:a -a; echo text | openssl dgst -sha256", needs="openssl"),
    Row("gpg", "chmod 700 $HOME; export GNUPGHOME=$HOME; gpg --batch --quiet --passphrase '' --quick-generate-key a@b default default never 2>/dev/null; echo $?; "
        "echo text | gpg --batch --quiet --encrypt --recipient a@b 2>/dev/null | gpg --batch --quiet --decrypt 2>/dev/null; gpgconf --kill gpg-agent; rm -rf $HOME/* ", needs="gpg gpg-agent"),
    Row("gpg-agent stays", ["sh", "-c", "chmod 700 $HOME; gpg --batch --quiet --homedir $HOME --passphrase '' --quick-generate-key a@b default default never 2>/dev/null; echo $?; rm -rf $HOME/*.d $HOME/*.kbx*"],
        needs="gpg gpg-agent", stays=("gpg-agent",), masks=((r"\b[0-9A-F]{40}\b", "#"), (r"(home/\S+ \d+ \S+) .*", r"\1")), deaths=("gpg-agent unknown",)),
    Row("ssh-keygen", "ssh-keygen -q -t rsa -b 2048 -N '' -f k; ssh-keygen -l -f k | cut -d' ' -f1; eval $(ssh-agent); ssh-add -q k; ssh-add -l | wc -l; ssh-agent -k; rm k*", needs="ssh-keygen ssh-agent"),
    Row("rsync", "mkdir -p a/b; seq 100 >a/f; seq 200 >a/b/g; touch -d @1000000000 a/f; rsync -a --stats a/ c/ | grep -c files; diff -r a c; echo more >>a/f; touch -d @1000000000 a/f; rsync -ai --delete a/ c/; rsync nowhere/ c/ 2>&1 | head -n 1", needs="rsync"),
    Row("man", ["man", "--pager=cat", "true"], masks=()),
    Row("ps, top, free", "ps -o comm= -p $$; top -b -n 1 | grep -c Tasks; free | wc -l; uptime | wc -l", needs="top ps"),
    Row("dpkg", "mkdir -p p/DEBIAN p/usr; printf 'Package: a\\nVersion: 1\\nArchitecture: all\\nMaintainer: a\\nDescription: a\\n' >p/DEBIAN/control; dpkg-deb -b p a.deb; dpkg -c a.deb | wc -l; dpkg -s bash | head -n 2; rm a.deb; "
        "apt-cache policy bash | head -n 1", needs="dpkg-deb"),
    Row("patch, diff, ed", "seq 5 >a; sed s/3/x/ a >b; diff a b; diff -u a b | patch a; cmp a b; printf '2d\\nw\\nq\\n' | ed -s a; cat a", needs="patch ed"),
    Row("getent, id, locale", "getent passwd root; id; locale; getent hosts localhost; getent nothing; echo $?"),

    # ---- interpreters ----
    Row("perl", ["perl", "-e", r'''
        $| = 1; $SIG{ALRM} = sub { print "alarm\n" }; kill ALRM => $$; system($ENV{FACTS}); my $text = `echo sub`; print $text;
        if (my $child = fork) { waitpid $child, 0; print $? >> 8, "\n" } else { exit 5 }
        open my $pipe, "-|", "seq", 3; print <$pipe>; close $pipe; $SIG{__WARN__} = sub { print "warned @_" }; warn "x\n"; eval { die "y\n" }; print $@;
        opendir my $d, "/proc/self/fd"; print join(" ", grep { /\d/ && $_ < 900 } sort readdir $d), "\n"; exit 3'''], short=True),
    Row("python3", ["python3", "-c", r'''
import asyncio, multiprocessing, os, signal, subprocess, sys, threading
sys.stdout.reconfigure(line_buffering=True)
subprocess.run([os.environ["FACTS"]])
print([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV, signal.SIGPIPE)], signal.pthread_sigmask(signal.SIG_BLOCK, ()))
child = os.fork()
if child == 0: os._exit(5)
print(os.waitpid(child, 0)[1])
try:
    os.kill(os.getpid(), signal.SIGINT); threading.Event().wait(60)
except KeyboardInterrupt:
    print("interrupted")
t = threading.Thread(target=lambda: print("thread")); t.start(); t.join()
async def main():
    process = await asyncio.create_subprocess_exec("sh", "-c", "echo async; exit 3", stdout=subprocess.PIPE)
    print(await process.communicate(), process.returncode)
asyncio.run(main())
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2, -3]))
print(sorted(int(f) for f in os.listdir("/proc/self/fd") if int(f) < 900))
sys.exit("over")'''], short=True),
    Row("python3 at a terminal", ["python3", "-q", "-i"], environment={"PYTHON_BASIC_REPL": "1", "PYTHONSTARTUP": ""}, steps=(
        ("expect", ">>> "), ("send", "import signal\n"), ("expect", ">>> "), ("send", "print('go'); signal.pause()\n"), ("expect", "\r\ngo"), ("runs", "python3"), ("send", CTRL_C),
        ("expect", "KeyboardInterrupt"), ("expect", ">>> "), ("send", "1/0\n"), ("expect", ">>> "), ("send", "exit(3)\n"))),
    Row("ruby", ["ruby", "-e", '''
        $stdout.sync = true; system(ENV["FACTS"]); trap("USR1") { puts "usr1" }; Process.kill("USR1", $$); sleep 0.1; pid = fork { exit! 5 }; Process.wait(pid); puts $?.exitstatus
        puts `echo sub`; begin; Process.kill("INT", $$); sleep 10; rescue Interrupt; puts "interrupted"; end
        Thread.new { puts "thread" }.join; def deep(n) = deep(n + 1); begin; deep(0); rescue SystemStackError; puts "deep"; end; abort "over"''']),
    Row("lua", ["lua5.4", "-e", 'os.execute(os.getenv("FACTS")); print(io.popen("echo sub"):read("a")); print(pcall(error, "x")); os.exit(3)']),
    Row("php", ["php", "-r", 'system(getenv("FACTS")); echo shell_exec("echo sub"); $p = pcntl_fork(); if (!$p) exit(5); pcntl_waitpid($p, $s); echo pcntl_wexitstatus($s), "\\n"; preg_match("/(a+)+b/", str_repeat("a", 50)); exit(3);']),
    Row("node", ["node", "-e", r'''
        const { execFileSync, spawnSync, fork } = require("child_process"); const { Worker } = require("worker_threads");
        process.stdout.write(execFileSync(process.env.FACTS)); console.log(spawnSync("sh", ["-c", "exit 3"]).status);
        process.on("SIGUSR2", () => { console.log("usr2"); new Worker("require('worker_threads').parentPort.postMessage('worker')", { eval: true }).on("message", m => { console.log(m); process.exit(3) }) });
        setTimeout(() => {}, 1000000); process.kill(process.pid, "SIGUSR2");''']),
    Row("tclsh", ["tclsh"], input='puts [exec $::env(FACTS)]\ncatch {exec sh -c "exit 3"} text options\nputs $options\nexit 4\n', masks=((r"CHILDSTATUS \d+", "CHILDSTATUS #"), (r"tcl_\w+", "tcl_#"))),
    Row("guile", ["guile", "--no-auto-compile", "-c", '(system (getenv "FACTS")) (display (status:exit-val (system* "sh" "-c" "exit 3"))) (newline) (gc) (define came #f) (sigaction SIGUSR1 (lambda (s) (set! came #t))) '
                  '(kill (getpid) SIGUSR1) (let loop () (if (not came) (begin (usleep 1000) (loop)))) (display "usr1\n") (exit 4)']),
    Row("java", ["java", "-Xshare:auto", "Main.java"], before='''cat >Main.java <<'END'
        public class Main { static int[] nothing; static int deep(int n) { return deep(n + 1) + 1; }
            public static void main(String[] words) throws Exception {
                new ProcessBuilder(System.getenv("FACTS")).inheritIO().start().waitFor();
                for (int i = 0; i < 20000; i++) try { nothing[i]++; } catch (NullPointerException e) { }
                try { deep(0); } catch (StackOverflowError e) { System.out.println("deep"); }
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
                Thread thread = new Thread(() -> System.out.println("thread")); thread.start(); thread.join(); System.gc(); System.exit(3); } }
END'''),
    Row("R", ["Rscript", "--vanilla", "-e", 'cat(system2(Sys.getenv("FACTS"), stdout = TRUE), sep = "\n"); print(sum(1:100)); print(solve(diag(3))[1, 1]); quit(status = 3)'], masks=((r"(Rscript|Rtmp)[\w.]+", r"\1#"),)),
    Row("ocaml", ["ocaml", "a.ml"], before='''cat >a.ml <<'END'
        let () = ignore (Sys.command "$FACTS"); Printf.printf "%d\\n" (Sys.command "exit 3")
        let rec deep n = 1 + deep (n + 1)
        let () = (try ignore (deep 0) with Stack_overflow -> print_endline "deep"); flush stdout; exit 4
END'''),
    Row("erl", ["erl", "-noshell", "-eval", 'io:format("~s~p~n", [os:cmd("$FACTS"), lists:sum(lists:seq(1, 100))]), spawn(fun() -> io:format("process~n"), halt(3) end).'],
        masks=((r"descriptor 0: \S+", "descriptor 0: #"),), deaths=("perhaps inet_gethost unknown",)),
    Row("sbcl", ["sbcl", "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive", "--eval",
                 '(progn (sb-ext:run-program (sb-ext:posix-getenv "FACTS") nil :output t) (gc :full t) (handler-case (sb-sys:with-pinned-objects () (sb-sys:sap-ref-8 (sb-sys:int-sap 8) 0)) '
                 '(error (e) (print (type-of e)))) (labels ((deep (n) (+ 1 (deep (+ n 1))))) (handler-case (deep 0) (storage-condition () (print :deep)))) (terpri) (sb-ext:exit :code 3))']),
    Row("go", ["./a"], needs="go", has_run=False, before='''cat >a.go <<'END'
package main
import ("fmt"; "os"; "os/exec"; "os/signal"; "syscall")
func main() {
    command := exec.Command(os.Getenv("FACTS")); command.Stdout = os.Stdout; command.Run()
    channel := make(chan os.Signal, 1); signal.Notify(channel, syscall.SIGUSR1); syscall.Kill(os.Getpid(), syscall.SIGUSR1); fmt.Println(<-channel)
    func() { defer func() { fmt.Println(recover()) }(); var p *int; *p = 1 }()
    done := make(chan int); for i := 0; i < 1000; i++ { go func() { done <- 1 }() }; sum := 0; for i := 0; i < 1000; i++ { sum += <-done }; fmt.Println(sum)
    os.Exit(3)
}
END
GOCACHE=$TMPDIR/c GO111MODULE=off CGO_ENABLED=1 go build -o a a.go; rm -rf $TMPDIR/c'''),
    Row("go build", "printf 'package main\\nimport \"fmt\"\\nfunc main() { fmt.Println(\"go\") }\\n' >a.go; GOCACHE=$TMPDIR/c GO111MODULE=off go run a.go; echo $?; rm -rf $TMPDIR/c", needs="go", limit=200),
    Row("rust", ["./a"], needs="rustc", before='''cat >a.rs <<'END'
use std::process::*;
fn main() {
    Command::new(std::env::var("FACTS").unwrap()).status().unwrap();
    println!("{:?}", std::thread::spawn(|| { panic!("in a thread") }).join().is_err());
    println!("{:?}", Command::new("sh").arg("-c").arg("kill -9 $$").status().unwrap());
    exit(3)
}
END
rustc -o a a.rs''', deaths=("sh killed SIGKILL",)),

    Row("gawk", ["gawk", 'BEGIN { print length(sprintf("%1000s", "a")); system("$FACTS"); "echo sub" | getline x; print x; print "a" |& "cat"; close("cat", "to"); "cat" |& getline y; print y; exit 3 }']),
    Row("luajit", ["luajit", "-e", 'local ffi = require("ffi"); os.execute(os.getenv("FACTS")); local function deep(n) return 1 + deep(n + 1) end; print(pcall(deep, 0)); local s = 0; for i = 1, 1e7 do s = s + i end; print(s); os.exit(3)']),
    Row("clisp", ["clisp", "-q", "-norc", "-x", '(progn (ext:run-shell-command "$FACTS") (dotimes (i 50) (make-array 100000)) (ext:gc) (print (reduce (function +) (loop for i below 1000 collect i))) (ext:exit 3))']),
    Row("swipl", ["swipl", "-q", "--stack-limit=10m", "-f", "none", "-g", "shell('$FACTS'), catch(deep(0, _), error(E, _), (print(E), nl)), numlist(1, 1000, L), sum_list(L, S), print(S), nl, halt(3)", "a.pl"],
        before="echo 'deep(N, X) :- M is N + 1, deep(M, Y), X is Y + 1.' >a.pl", masks=((r"private_table_space|stack_overflow|program_space", "#"),)),
    Row("ecl", ["ecl", "--norc", "--eval", '(progn (ext:system "$FACTS") (dotimes (i 50) (make-array 100000)) (si:gc t) (handler-case (labels ((deep (n) (+ 1 (deep (+ n 1))))) (deep 0)) (ext:stack-overflow () (print :deep))) (terpri) (finish-output) (ext:quit 3))']),
    Row("mono", ["mono", "a.exe"], needs="mcs", before="""cat >a.cs <<'END'
using System; using System.Diagnostics; using System.Threading;
class Main_ { static string nothing; static int Main() {
    var start = new ProcessStartInfo(Environment.GetEnvironmentVariable("FACTS")) { UseShellExecute = false, RedirectStandardOutput = true }; Console.Write(Process.Start(start).StandardOutput.ReadToEnd());
    int count = 0; for (int i = 0; i < 1000; i++) try { count += nothing.Length; } catch (NullReferenceException) { count++; } Console.WriteLine(count);
    var thread = new Thread(() => Console.WriteLine("thread")); thread.Start(); thread.Join(); GC.Collect(); return 3; } }
END
mcs a.cs"""),
    Row("gforth", ["gforth", "-e", "s\" $FACTS\" system : fault 0 @ ; ' fault catch . cr 3 (bye)"]),
    Row("perl with threads", ["perl", "-Mthreads", "-e", "my @t = map { my $n = $_; threads->create(sub { system('true'); $n * $n }) } 1 .. 8; print join(' ', map { $_->join } @t), qq(\n); exit 3"]),
    Row("java with another collector", ["java", "-XX:+UseZGC", "-Xmx64m", "Main.java"], before="echo 'public class Main { static int[] nothing; public static void main(String[] words) { long sum = 0; for (int i = 0; i < 200000; i++) { byte[] some = new byte[1000]; sum += some.length; try { nothing[0]++; } catch (NullPointerException e) { sum++; } } System.out.println(sum); System.exit(3); } }' >Main.java"),
    Row("tcc", ["tcc", "-run", "a.c"], before="printf '#include <stdio.h>\nint main(void) { puts(\"run\"); return 3; }\n' >a.c"),
    Row("node and WebAssembly", ["node", "-e", r"""
        const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 5, 1, 1, 0x66, 0, 0, 0xa, 9, 1, 7, 0, 0x41, 0x7c, 0x28, 2, 0, 0xb];
        const instance = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes))); let count = 0;
        for (let i = 0; i < 1000; i++) try { instance.exports.f() } catch (e) { count++ } console.log(count); process.exit(3)"""]),
    Row("qemu-aarch64", ["qemu-aarch64", "./a"], needs="aarch64-linux-gnu-gcc", before=r"""cat >a.c <<'END'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf back;
static void take(int signal) { siglongjmp(back, signal); }
int *volatile nowhere;
int main(void) { signal(SIGSEGV, take); for (volatile int i = 0; i < 100; i++) { int from = sigsetjmp(back, 1); if (!from) *nowhere = 1; else if (i == 99) printf("%d\n", from); } return 3; }
END
aarch64-linux-gnu-gcc -O1 -static -o a a.c"""),

    # ---- on a terminal ----
    # vim asks the terminal nothing: nobody answers.
    Row("vim", ["vim", "-u", "NONE", "-N", "--cmd", "set t_u7= t_RV=", "file"], environment={"TERM": "vt100"}, steps=(
        ("expect", "[New]"), ("send", "ihello\x1b"), ("expect", "hello"), ("send", ":!$FACTS group\r"), ("expect", "ENTER"), ("send", "\r"), ("send", ":wq\r")), masks=((r"(viminfo \d+ \S+) .*", r"\1"),)),
    Row("vim that stops", ["bash", "--norc", "--noediting", "-i"], is_outer=True, environment={"TERM": "vt100"}, steps=(
        PROMPT, ("send", "under vim -u NONE -N --cmd 'set t_u7= t_RV=' file\n"), ("expect", "[New]"), ("runs", "vim"), ("foreground", "vim"), ("send", CTRL_Z), ("stops", "vim"), ("expect", "topped"), PROMPT, ("send", "stty -a\n"), PROMPT, ("send", "fg\n"),
        ("foreground", "vim"), ("runs", "vim"), ("send", ":q\r"), ("ends", "vim"), PROMPT, *typed("stty -a"), ("send", "exit\n")), needs="vim", masks=((r"(viminfo \d+ \S+) .*", r"\1"),)),
    Row("nano", ["nano", "-I", "file"], environment={"TERM": "vt100"}, steps=(("expect", "GNU nano"), ("send", "hello"), ("expect", "hello"), ("send", "\x18"), ("expect", "Save"), ("send", "y"), ("expect", "Name"), ("send", "\r"))),
    Row("less", ["less", "numbers"], before="seq 200 >numbers", environment={"TERM": "vt100", "LESSHISTFILE": "-"}, steps=(("expect", "20"), ("runs", "less"), ("send", "G"), ("expect", "200"), ("send", "q"))),
    Row("top at a terminal", ["top", "-p", "1", "-d", "100"], environment={"TERM": "vt100"}, steps=(("expect", "COMMAND"), ("runs", "top"), ("size", 30, 90), ("send", "q")), masks=((r"(?s).*", ""),)),
    Row("man at a terminal", ["man", "true"], environment={"TERM": "vt100", "PAGER": "less", "LESSHISTFILE": "-"}, steps=(("expect", "TRUE"), ("runs", "less"), ("send", "q"))),
    Row("tmux", "export TMUX_TMPDIR=$TMPDIR; tmux -f /dev/null new-session -d '$FACTS >facts; echo done >>facts; sleep 1000'; until grep -q done facts; do sleep 0.02; done 2>/dev/null; grep -v variable facts; tmux ls -F '#{session_windows}'; "
        "tmux kill-server; rm -rf $TMPDIR/*", needs="tmux", masks=((r"pts/\d+", "pts/#"),)),
    Row("tmux stays", ["tmux", "-S", "socket", "-f", "/dev/null", "new-session", "-d", "exec sleep 1000"], stays=("sleep", "tmux: server"),
        deaths=("perhaps sleep unknown", "tmux unknown")),
    Row("tmux at a terminal", ["tmux", "-S", "socket", "-f", "/dev/null", "new-session", "bash --norc --noediting"], environment={"TERM": "vt100"}, masks=((r"(?s).*exited.*", "exited"),),
        steps=(("expect", "$"), ("send", "echo te''xt\n"), ("expect", "text"), ("send", "sleep 1000\n"), ("runs", "sleep"), ("send", CTRL_C), ("ends", "sleep"), ("send", "exit\n"), ("expect", "exited"))),
    Row("screen", "export SCREENDIR=$TMPDIR/s; mkdir -m 700 $SCREENDIR; screen -c /dev/null -dmS a sh -c '$FACTS group >facts; echo done >>facts; sleep 1000'; until grep -q done facts; do sleep 0.02; done 2>/dev/null; cat facts; "
        "screen -S a -X quit; rm -rf $SCREENDIR", needs="screen"),

    # ---- servers ----
    Row("curl and wget", "seq 1000 >page; python3 -m http.server --bind 127.0.0.1 $PORT >/dev/null 2>&1 & until curl -fso /dev/null http://127.0.0.1:$PORT/; do sleep 0.05; done; curl -s http://127.0.0.1:$PORT/page | cksum; "
        "wget -qO- http://127.0.0.1:$PORT/page | cksum; curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:$PORT/none; wget -q http://127.0.0.1:$PORT/none; echo $?; kill $!; wait $!; echo $?", masks=TERMINATED, needs="curl wget python3"),
    Row("redis", "under redis-server --port $PORT --save '' --appendonly no --logfile $TMPDIR/log --dir . & until redis-cli -p $PORT ping >/dev/null 2>&1; do sleep 0.05; done; redis-cli -p $PORT set a 1; redis-cli -p $PORT incr a; "
        "redis-cli -p $PORT bgsave; redis-cli -p $PORT debug segfault-not; redis-cli -p $PORT shutdown nosave; wait $!; echo $?; rm -f $TMPDIR/log dump.rdb", needs="redis-server redis-cli", is_outer=True),
    Row("redis as a daemon", "redis-server --port $PORT --save '' --logfile $TMPDIR/log --dir $TMPDIR --daemonize yes --pidfile $TMPDIR/pid; until redis-cli -p $PORT ping 2>/dev/null; do sleep 0.05; done 2>&1 | tail -n 1; "
        "redis-cli -p $PORT shutdown nosave; while [ -e $TMPDIR/pid ]; do sleep 0.02; done; rm -f $TMPDIR/*", needs="redis-server redis-cli"),
    Row("nginx", ["nginx", "-p", "prefix", "-c", "nginx.conf", "-e", "stderr"], before="mkdir -p prefix/logs; mkdir -p prefix; printf 'daemon off; pid pid; worker_processes 2; error_log stderr crit; events {} http { access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; "
        "uwsgi_temp_path u; scgi_temp_path s; server { listen 127.0.0.1:%s; location / { return 200 works; } } }' $PORT >prefix/nginx.conf; "
        "(until curl -so answer http://127.0.0.1:$PORT/; do sleep 0.05; done; kill -HUP $(cat prefix/pid); until curl -so answer2 http://127.0.0.1:$PORT/; do sleep 0.05; done; kill -QUIT $(cat prefix/pid)) >/dev/null 2>&1 &", needs="curl"),
    Row("memcached", "user=; [ $(id -u) = 0 ] && user='-u nobody'; under memcached -l 127.0.0.1 -p $PORT $user & until printf 'set a 0 0 1\\r\\nx\\r\\nget a\\r\\nquit\\r\\n' | nc -N 127.0.0.1 $PORT; do sleep 0.05; done 2>/dev/null; kill $!; wait $!; echo $?",
        masks=TERMINATED, needs="memcached nc", is_outer=True),
    Row("postgres", "export PATH=$PATH:$(echo /usr/lib/postgresql/*/bin); initdb -D $TMPDIR/d -A trust -U u >$TMPDIR/log; echo $?; echo \"unix_socket_directories='$TMPDIR'\" >>$TMPDIR/d/postgresql.conf; under postgres -D $TMPDIR/d -p $PORT >$TMPDIR/log 2>&1 & "
        "until psql -h $TMPDIR -p $PORT -U u -Atc 'select 1' postgres 2>/dev/null; do sleep 0.1; done; psql -h $TMPDIR -p $PORT -U u -Atc 'select sum(i) from generate_series(1, 100000) i' postgres; kill -INT $!; wait $!; echo $?; rm -rf $TMPDIR/*",
        needs="psql", is_outer=True, user="postgres", limit=120),
    Row("postgres, all of it", "export PATH=$PATH:$(echo /usr/lib/postgresql/*/bin); initdb -D $TMPDIR/d -A trust -U u >$TMPDIR/log; echo $?; echo \"unix_socket_directories='$TMPDIR'\" >>$TMPDIR/d/postgresql.conf; pg_ctl -s -w -D $TMPDIR/d -l $TMPDIR/log2 -o \"-p $PORT\" start; echo $?; "
        "psql -h $TMPDIR -p $PORT -U u -Atc 'select 1' postgres; pg_ctl -s -D $TMPDIR/d -m fast stop; echo $?; rm -rf $TMPDIR/*", needs="psql", user="postgres", limit=120),
    Row("sshd", "mkdir $HOME/.ssh; ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f $HOME/.ssh/id_ed25519; cp $HOME/.ssh/id_ed25519.pub authorized; "
        "printf 'Port %s\\nListenAddress 127.0.0.1\\nHostKey %s/host\\nAuthorizedKeysFile %s/authorized\\nStrictModes no\\nUsePAM no\\nPermitRootLogin yes\\nPidFile none\\nPrintMotd no\\nSubsystem sftp internal-sftp\\n' $PORT $PWD $PWD >config; "
        "under /usr/sbin/sshd -D -e -f config 2>log & ssh=\"ssh -q -F none -p $PORT -i $HOME/.ssh/id_ed25519 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null\"; until $ssh root@127.0.0.1 true; do sleep 0.1; done; "
        "$ssh root@127.0.0.1 \"$FACTS; exit 7\"; echo $?; seq 100000 | $ssh root@127.0.0.1 cksum; $ssh -tt root@127.0.0.1 \"tty -s && $FACTS group\"; ssh -q -p 1 127.0.0.1; echo $?; kill $!; wait $!; echo $?; sed 's/port [0-9]*//' log | grep -v 'Connection reset\\|Disconnected\\|disconnected'; rm -rf host* authorized log config $HOME/.ssh",
        needs="sshd ssh", needs_root=True, mounts=("/run/sshd",), is_outer=True, masks=(*TERMINATED, (r"SSH_(CLIENT|CONNECTION|TTY)\S*.*|SHA256:\S+|pts/\d+|user \w+ session", "#"),)),
    Row("sshd with PAM", "mkdir $HOME/.ssh; ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f $HOME/.ssh/id_ed25519; cp $HOME/.ssh/id_ed25519.pub authorized; "
        "printf 'Port %s\\nListenAddress 127.0.0.1\\nHostKey %s/host\\nAuthorizedKeysFile %s/authorized\\nStrictModes no\\nUsePAM yes\\nPermitRootLogin yes\\nPidFile none\\nPrintMotd no\\nSubsystem sftp /usr/lib/openssh/sftp-server\\n' $PORT $PWD $PWD >config; "
        "/usr/sbin/sshd -D -e -f config 2>/dev/null & ssh=\"-q -F none -P $PORT -i $HOME/.ssh/id_ed25519 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null\"; seq 1000 >file; until scp $ssh file root@127.0.0.1:$PWD/copy 2>/dev/null; do sleep 0.1; done; "
        "cmp file copy; echo 'ls file' | sftp $ssh -b - root@127.0.0.1:$PWD; kill $!; wait $!; echo $?; rm -rf host* authorized config $HOME/.ssh", masks=TERMINATED, needs="sshd scp sftp", needs_root=True, mounts=("/run/sshd",)),
    Row("rsync as a daemon", "mkdir a; seq 100 >a/f; printf 'port = %s\\naddress = 127.0.0.1\\nuse chroot = no\\n[a]\\npath = %s/a\\nread only = yes\\n' $PORT $PWD >config; rsync --daemon --no-detach --config=config >/dev/null 2>&1 & "
        "until rsync -a rsync://127.0.0.1:$PORT/a/ b/ 2>/dev/null; do sleep 0.05; done; diff -r a b; rsync a/f rsync://127.0.0.1:$PORT/a/ >/dev/null 2>&1; echo $?; kill $!; wait $!; echo $?", masks=TERMINATED, needs="rsync"),
    Row("socat", "socat TCP-LISTEN:$PORT,bind=127.0.0.1,reuseaddr,fork EXEC:'cat' & until echo text | socat -t 5 - TCP:127.0.0.1:$PORT; do sleep 0.05; done 2>/dev/null; kill $!; wait $!; echo $?; socat - \"EXEC:$FACTS group,pty,setsid,ctty\"", needs="socat", masks=(*TERMINATED, (r"(?m)^.* E waitpid.*\n?", ""),)),

    Row("file", ["file", "/bin/sh", "/etc/passwd", "."]),
    Row("vsftpd", "mkdir $TMPDIR/e root; seq 100 >root/f; chmod 555 root; printf 'listen=YES\nlisten_address=127.0.0.1\nlisten_port=%s\nanonymous_enable=YES\nbackground=NO\nseccomp_sandbox=NO\nsecure_chroot_dir=%s/e\nanon_root=%s/root\nxferlog_enable=NO\n' $PORT $TMPDIR $PWD >config; "
        "under vsftpd config & until curl -s ftp://127.0.0.1:$PORT/f | cksum | grep -v ' 0$'; do sleep 0.05; done; curl -s ftp://127.0.0.1:$PORT/ | wc -l; curl -s ftp://127.0.0.1:$PORT/none; echo $?; kill $!; wait $!; echo $?", needs="vsftpd curl", needs_root=True, is_outer=True, masks=TERMINATED),
    Row("haproxy", "printf 'global\n maxconn 50\ndefaults\n mode http\n timeout connect 5s\n timeout client 5s\n timeout server 5s\nfrontend a\n bind 127.0.0.1:%s\n http-request return status 200 content-type text/plain string works\n' $PORT >config; "
        "haproxy -q -db -f config & until curl -fs http://127.0.0.1:$PORT/; do sleep 0.05; done; kill $!; wait $!; echo $?", needs="haproxy curl", masks=((r"(?m)^(\[|Proxy |Terminated).*\n?", ""),)),
    Row("lighttpd", "seq 100 >page; printf 'server.document-root = \"%s\"\nserver.port = %s\nserver.bind = \"127.0.0.1\"\n' $PWD $PORT >config; under lighttpd -D -f config 2>/dev/null & until curl -fs http://127.0.0.1:$PORT/page | cksum | grep -v ' 0$'; do sleep 0.05; done; kill -INT $!; wait $!; echo $?",
        needs="lighttpd curl", is_outer=True),
    Row("apache2", "m=/usr/lib/apache2/modules; mkdir root; seq 100 >root/page; printf 'ServerRoot %s\nServerName a\nListen 127.0.0.1:%s\nPidFile %s/pid\nErrorLog /dev/null\nDocumentRoot %s/root\nDefaultRuntimeDir %s\nLoadModule mpm_prefork_module %s/mod_mpm_prefork.so\nLoadModule authz_core_module %s/mod_authz_core.so\nStartServers 2\nUser nobody\nGroup nogroup\n' "
        "$PWD $PORT $TMPDIR $PWD $TMPDIR $m $m >config; under apache2 -f $PWD/config -DFOREGROUND & until curl -fs http://127.0.0.1:$PORT/page | cksum | grep -v ' 0$'; do sleep 0.05; done; kill -USR1 $!; until curl -fs http://127.0.0.1:$PORT/page | cksum | grep -v ' 0$'; do sleep 0.05; done; kill $!; wait $!; echo $?",
        needs="apache2 curl", is_outer=True),
    Row("dnsmasq", "user=; [ $(id -u) = 0 ] && user=--user=nobody; under dnsmasq -k -p $PORT -C /dev/null --no-resolv --no-hosts --address=/a.test/127.1.2.3 --listen-address=127.0.0.1 --bind-interfaces --pid-file= $user & python3 -c \"import socket, os; s = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(0.1)\n"
        "while True:\n  try: s.sendto(bytes.fromhex('000101000001000000000000016104746573740000010001'), ('127.0.0.1', int(os.environ['PORT']))); print(s.recv(512)[-4:]); break\n  except OSError: pass\"; kill $!; wait $!; echo $?", needs="dnsmasq python3", is_outer=True, masks=TERMINATED),
    Row("tor in its sandbox", ": >torrc; under tor -f torrc --defaults-torrc /dev/null --DisableNetwork 1 --Sandbox 1 --SocksPort 0 --DataDirectory $TMPDIR/t --Log 'notice file log' >/dev/null & until grep -q 'Bootstrapped 0' log; do sleep 0.05; done 2>/dev/null; kill -INT $!; wait $!; echo $?; rm -rf log $TMPDIR/t", needs="tor", is_outer=True, limit=90),
    Row("dropbear", "mkdir $HOME/.ssh; dropbearkey -t ed25519 -f host >/dev/null 2>&1; ssh-keygen -q -t ed25519 -N '' -f $HOME/.ssh/id; cp $HOME/.ssh/id.pub /root/.ssh/authorized_keys; chmod 700 /root/.ssh; under dropbear -F -r host -p 127.0.0.1:$PORT -P '' 2>/dev/null & "
        "ssh=\"ssh -q -F none -p $PORT -i $HOME/.ssh/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null\"; until $ssh root@127.0.0.1 true; do sleep 0.1; done; $ssh root@127.0.0.1 \"$FACTS signals; exit 7\"; echo $?; seq 100000 | $ssh root@127.0.0.1 cksum; kill $!; wait $!; echo $?; rm -rf host $HOME/.ssh",
        needs="dropbear dropbearkey ssh", needs_root=True, mounts=("/root/.ssh",), is_outer=True, masks=TERMINATED),
    Row("unbound", "printf 'server:\n username: \"\"\n chroot: \"\"\n pidfile: \"\"\n interface: 127.0.0.1\n port: %s\n use-syslog: no\n do-daemonize: no\n num-threads: 2\n local-zone: \"a.test.\" redirect\n local-data: \"a.test. A 127.1.2.3\"\nremote-control:\n control-enable: no\n' $PORT >config; "
        "under unbound -c config 2>/dev/null & python3 -c \"import socket, os; s = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(0.1)\nwhile True:\n  try: s.sendto(bytes.fromhex('000101000001000000000000016104746573740000010001'), ('127.0.0.1', int(os.environ['PORT']))); print(s.recv(512)[-4:]); break\n  except OSError: pass\"; "
        "kill $!; wait $!; echo $?", needs="unbound python3", is_outer=True, masks=TERMINATED),
    Row("dbus-daemon", "under dbus-daemon --session --nofork --print-address=1 --address=unix:path=$TMPDIR/bus >address & until [ -s address ]; do sleep 0.02; done; DBUS_SESSION_BUS_ADDRESS=$(cat address) dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner string:org.freedesktop.DBus; "
        "kill $!; wait $!; echo $?; rm -f address $TMPDIR/bus", needs="dbus-daemon dbus-send", is_outer=True, masks=TERMINATED),
    Row("php-fpm", "printf '[global]\nerror_log = /dev/null\ndaemonize = no\n[a]\nlisten = 127.0.0.1:%s\npm = static\npm.max_children = 2\nping.path = /ping\nping.response = works\ncatch_workers_output = yes\n' $PORT >config; [ $(id -u) = 0 ] && printf 'user = nobody\ngroup = nogroup\n' >>config; "
        "under $(ls /usr/sbin/php-fpm*) -n -y config & python3 -c \"import os, socket, struct, sys\ndef record(kind, text): return struct.pack('>BBHHBx', 1, kind, 1, len(text), 0) + text\ndef pair(name, value): return bytes([len(name), len(value)]) + name + value\nwhile True:\n  try: s = socket.create_connection(('127.0.0.1', int(os.environ['PORT']))); break\n  except OSError: pass\n"
        "s.sendall(record(1, b'\\0\\1' + bytes(6)) + record(4, pair(b'SCRIPT_NAME', b'/ping') + pair(b'REQUEST_METHOD', b'GET') + pair(b'SCRIPT_FILENAME', b'/ping')) + record(4, b'') + record(5, b''))\ntext = b''\nwhile part := s.recv(4096): text += part\nprint(b'works' in text)\"; kill -QUIT $!; wait $!; echo $?",
        needs="php-fpm8.2 python3", is_outer=True, masks=TERMINATED),
    Row("supervise", "mkdir service; printf '#!/bin/sh\necho x >>../count; exec sleep 1000\n' >service/run; chmod +x service/run; under supervise service & until svok service; do sleep 0.02; done; until [ -e count ]; do sleep 0.02; done; svc -t service; until [ $(wc -l <count) -ge 2 ]; do sleep 0.02; done; "
        "svc -dx service; wait $!; echo $?; cat count; rm -r service", needs="supervise svc svok", is_outer=True),
    Row("cron", "printf '* * * * * %s >%s/new; mv %s/new %s/out\n' $FACTS $PWD $PWD $PWD >/var/spool/cron/crontabs/root; chmod 600 /var/spool/cron/crontabs/root; under cron -f & until [ -e out ]; do sleep 0.1; done; kill $!; wait $!; echo $?; cat out", needs="cron", needs_root=True,
        mounts=("/var/spool/cron/crontabs", "/etc/cron.d", "/run"), is_outer=True, masks=TERMINATED, limit=100),

    # ---- large ones ----
    Row("chromium", ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "data:text/html,<p>text</p><script>document.write(6*7)</script>"], limit=120, masks=((r"(?m)^.*(ERROR|WARNING):.*\n?", ""), (r"(?m)^.*/(home|tmp|work)/.*$", ""))),
    Row("chromium in its sandbox", ["chromium", "--headless", "--disable-gpu", "--dump-dom", "data:text/html,<p>text</p><script>document.write(6*7)</script>"], user="nobody", limit=120,
        masks=((r"(?m)^.*(ERROR|WARNING):.*\n?", ""), (r"(?m)^.*/(home|tmp|work)/.*$", ""))),
    Row("Xvfb and xterm", "Xvfb -displayfd 3 -nolisten unix -nolisten tcp 3>display >/dev/null 2>&1 & until [ -s display ]; do sleep 0.05; done; DISPLAY=:$(cat display) xterm -e sh -c '$FACTS group >facts; exit 3' 2>/dev/null; echo $?; cat facts; kill $!; wait $!; echo $?; rm display",
        masks=TERMINATED, needs="Xvfb xterm", needs_root=True),
    Row("ffmpeg", ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=duration=1:size=160x120", "-threads", "2", "-c:v", "mpeg4", "-bitexact", "-f", "md5", "-"]),
    Row("convert", ["convert", "-size", "60x60", "gradient:", "-rotate", "30", "-blur", "2", "-depth", "8", "txt:-"]),
    Row("gs", ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pgmraw", "-r20", "-sOutputFile=page", "-c", "newpath 10 10 moveto 200 200 lineto stroke showpage"]),

    # ---- deaths ----
    Row("a fault", ["./die", "fault"], short=True, before="cc -o die -x c - <<'END'\n#include <stdlib.h>\n#include <stdio.h>\nint *volatile nowhere;\nint main(int count, char **words) { printf(\"words\"); fprintf(stderr, \"errors\\n\");"
        " fflush(stdout); if (words[count - 1][0] == 'f') *nowhere = 1; abort(); }\nEND", deaths=("die crash SIGSEGV",)),
    Row("an abort", ["./die", "abort"], short=True, before="cc -o die -x c - <<'END'\n#include <stdlib.h>\n#include <stdio.h>\nint main(void) { printf(\"lost\"); fprintf(stderr, \"errors\\n\"); abort(); }\nEND", deaths=("die crash SIGABRT",)),
    Row("an uncaught exception", ["./die"], before="c++ -o die -x c++ - <<'END'\n#include <stdexcept>\nint main() { throw std::runtime_error(\"words\"); }\nEND", needs="c++", deaths=("die crash SIGABRT",)),
    Row("a stack that is too deep", ["./die"], before="cc -O0 -o die -x c - <<'END'\nint deep(int n) { volatile int a[100]; a[0] = n; return deep(n + 1) + a[0]; }\nint main(void) { return deep(0); }\nEND", deaths=("die crash SIGSEGV",)),
    Row("bash is killed", ["bash", "-c", "kill -SEGV $$"], short=True, deaths=("bash crash SIGSEGV",)),
    Row("bash is killed for good", ["bash", "-c", "kill -KILL $$"], deaths=("bash killed SIGKILL",)),
    Row("bash is asked to end", ["bash", "-c", "kill -TERM $$"]),
    Row("a child of bash dies", ["bash", "-c", "bash -c 'kill -SEGV $$'; echo $?; (kill -ABRT $BASHPID); echo $?"], deaths=("bash crash SIGABRT", "bash crash SIGSEGV")),
    Row("perl is killed", ["perl", "-e", "kill SEGV => $$; sleep 10"], deaths=("perl crash SIGSEGV",)),
    Row("python3 with faulthandler", ["python3", "-X", "faulthandler", "-c", "import ctypes; ctypes.string_at(0)"], deaths=("python3 crash SIGSEGV",)),
    Row("python3 aborts", ["python3", "-c", "import os; os.abort()"], deaths=("python3 crash SIGABRT",)),
    Row("ruby dies", ["bash", "-c", "ruby -e 'Process.kill(:SEGV, $$); sleep 10' 2>&1 | head -n 1; echo ${PIPESTATUS[*]}"], needs="ruby", deaths=("ruby crash SIGSEGV",), masks=((r"-e:1: \[BUG\]", "[BUG]"),)),
    Row("node aborts", ["bash", "-c", "node -e 'process.abort()' 2>/dev/null; echo $?"], needs="node", deaths=("node crash SIGABRT",)),
    Row("java crashes", ["bash", "-c", "java -XX:-CreateCoredumpOnCrash -XX:ErrorFile=$TMPDIR/hs -XX:+UnlockDiagnosticVMOptions -cp . Die 2>&1 | head -n 3; echo ${PIPESTATUS[0]}; grep -c si_signo $TMPDIR/hs; rm $TMPDIR/hs"], needs="javac java",
        before="cat >Die.java <<'END'\npublic class Die { public static void main(String[] words) throws Exception { var f = sun.misc.Unsafe.class.getDeclaredField(\"theUnsafe\"); f.setAccessible(true); ((sun.misc.Unsafe) f.get(null)).putInt(8L, 1); } }\nEND\njavac -nowarn Die.java 2>/dev/null",
        deaths=("Die crash SIGSEGV",)),
    Row("go panics", ["bash", "-c", "./a 2>&1 | head -n 2; echo ${PIPESTATUS[0]}"], needs="go", before="printf 'package main\\nfunc main() { var p *int; *p = 1 }\\n' >a.go; GOCACHE=$TMPDIR/c GO111MODULE=off CGO_ENABLED=1 go build -o a a.go; rm -rf $TMPDIR/c"),
    Row("rust panics", ["./a"], needs="rustc", before="echo 'fn main() { let x: Result<u32, _> = \"a\".parse::<u32>(); x.unwrap(); }' >a.rs; rustc -o a a.rs"),
    Row("ways to die", ["bash", "-c", "for way in divide illegal trap bus thread free assert child twice alarm usr1 time size kill quit; do under ./die $way; echo $?; done"], is_outer=True, masks=((r"(?m)^bash: .*: +", ""), (r"0x\w+", "#")),
        before=r"""cat >die.c <<'END'
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int *volatile nowhere; volatile int zero;
static void *fault(void *none) { *nowhere = 1; return none; }
static void again(int signal) { (void)signal; *nowhere = 2; }
int main(int count, char **words) {
    const char *way = words[count - 1]; pthread_t thread; setvbuf(stdout, NULL, _IONBF, 0); printf("%s\n", way);
    if (!strcmp(way, "divide")) return 100 / zero;
    if (!strcmp(way, "illegal")) __builtin_trap();
    if (!strcmp(way, "trap")) raise(SIGTRAP);
    if (!strcmp(way, "bus")) { int file = open("cut", O_RDWR | O_CREAT, 0600); char *map; ftruncate(file, 4096); map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0); ftruncate(file, 0); unlink("cut"); return map[0]; }
    if (!strcmp(way, "thread")) { pthread_create(&thread, NULL, fault, NULL); pthread_join(thread, NULL); }
    if (!strcmp(way, "free")) { char *memory = malloc(10); free(memory); free(memory); }
    if (!strcmp(way, "assert")) assert(zero);
    if (!strcmp(way, "child")) { int status; if (!fork()) fault(NULL); wait(&status); return WTERMSIG(status); }
    if (!strcmp(way, "twice")) { signal(SIGSEGV, again); fault(NULL); }
    if (!strcmp(way, "alarm")) { alarm(1); pause(); }
    if (!strcmp(way, "usr1")) raise(SIGUSR1);
    if (!strcmp(way, "time")) { struct rlimit one = { 1, 2 }; setrlimit(RLIMIT_CPU, &one); for (;;) zero++; }
    if (!strcmp(way, "size")) { struct rlimit one = { 1, 2 }; setrlimit(RLIMIT_FSIZE, &one); write(open("size", O_RDWR | O_CREAT, 0600), way, 4); write(3, way, 4); }
    if (!strcmp(way, "kill")) raise(SIGKILL);
    if (!strcmp(way, "quit")) raise(SIGQUIT);
    return 0;
}
END
cc -O0 -w -pthread -o die die.c""", deaths=tuple("die crash SIG" + name for name in ("ABRT", "ALRM", "BUS", "FPE", "ILL", "SEGV", "TRAP", "XCPU", "XFSZ")) + ("die killed SIGKILL",)),
    # The directory R is that of the script which executes this R.
    Row("R dies", ["Rscript", "--vanilla", "-e", "tools::pskill(Sys.getpid(), 11); repeat {}"], deaths=("R-56d5b562 crash SIGSEGV",)),
    Row("erl aborts", ["bash", "-c", "ERL_CRASH_DUMP=/dev/null erl -noshell -eval 'erlang:halt(abort).' 2>/dev/null; echo $?"], needs="erl", deaths=("beam.smp crash SIGABRT", "perhaps inet_gethost unknown"), masks=TERMINATED),
    Row("go aborts", ["./a"], needs="go", before="printf 'package main\nimport \"C\"\nimport \"os\"\nfunc main() { os.Stderr.Close(); var p *int; *p = 1 }\n' >a.go; GOCACHE=$TMPDIR/c GO111MODULE=off CGO_ENABLED=1 go build -o a a.go; rm -rf $TMPDIR/c", environment={"GOTRACEBACK": "crash"}, deaths=("a crash SIGABRT",)),
    Row("rust aborts", ["./a"], needs="rustc", before="echo 'fn main() { std::process::abort() }' >a.rs; rustc -o a a.rs", deaths=("a crash SIGABRT",)),
    Row("a guest of qemu dies", ["qemu-aarch64", "./a"], needs="aarch64-linux-gnu-gcc", before="echo 'int *volatile nowhere; int main(void) { return *nowhere; }' >a.c; aarch64-linux-gnu-gcc -static -o a a.c", deaths=("qemu-aarch64 crash SIGSEGV",)),
    Row("a child is killed by a server", ["perl", "-e", "my $c = fork; if (!$c) { open my $f, '>', 'ready'; close $f; sleep 1000 } select undef, undef, undef, 0.02 until -e 'ready'; kill 9, $c; waitpid $c, 0; print $?, qq(\\n); unlink 'ready'"], deaths=("perl killed SIGKILL",)),
    Row("php dies", ["php", "-r", "posix_kill(getmypid(), SIGSEGV);"], deaths=("php crash SIGSEGV",)),
    Row("a server is killed", "(python3 -u -c 'import signal; print(1); signal.pause()' >ready; echo $?) & until [ -s ready ]; do sleep 0.02; done; kill -SEGV $(pgrep -P $!); wait; rm ready", needs="python3 pgrep",
        deaths=("python3 crash SIGSEGV",)),
]
