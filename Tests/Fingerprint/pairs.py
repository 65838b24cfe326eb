"""Pairs of ends of one program, and whether both are one bug.

An end is a bug of the program, and after "@" the build that dies of it; without a name of a build
it is O2.
"""
import typing


class Pair(typing.NamedTuple):
    one: str
    other: str
    reason: str  # why both are the same bug, or why not

    @property
    def one_function(self):
        """Whether both are in one function."""
        return "one function" in self.reason or "one expression" in self.reason or "two lines" in self.reason

    @property
    def name(self):
        return f"{self.one} | {self.other}"


SAME = [
    # callers
    Pair("null", "null far other", "another caller, four calls away"),
    Pair("null", "null two away", "another caller, three calls away"),
    Pair("null near one", "null near other", "another caller, one call away"),
    Pair("abort far one", "abort far other", "another caller, three calls away"),
    Pair("abort near one", "abort near other", "another caller, one call away"),
    Pair("assert first", "assert other caller", "another caller of the function that asserts"),
    Pair("throw", "throw other caller", "another caller of the function that throws"),
    Pair("at 7@static-runtime", "at 900@static-runtime", "another index, the runtime in the program's file"),
    Pair("throw@static-runtime", "throw other caller@static-runtime", "another caller of the function that throws, the runtime in the program's file"),
    Pair("abort in closing", "abort in closing other caller", "another caller of the function before a helper that only its declaration shows"),
    # threads
    Pair("null", "null in thread", "the same calls in another thread"),
    Pair("assert first", "assert in thread", "the assertion in another thread"),
    Pair("throw", "throw in thread", "the exception in another thread"),
    # builds
    Pair("null", "null@stripped", "the build without its symbols"),
    Pair("library sum", "library sum@moved", "the library in another folder"),
    Pair("library sum", "library sum@newer", "a new version of the program around the library"),
    Pair("null", "null@O0", "built without optimisation"),
    Pair("null", "null@O3", "built with frame pointers and -O3"),
    Pair("null", "null@clang", "built by another compiler"),
    Pair("null", "null@fixed", "built for a fixed address"),
    Pair("null", "null@reordered", "the objects linked in another order"),
    Pair("null", "null@newer", "a new version of the program"),
    Pair("abort far one", "abort far one@newer", "the abort() in a new version"),
    Pair("abort in closing", "abort in closing@newer", "such a helper in a new version"),
    Pair("abort in closing", "abort in closing@O0", "such a helper in a build without optimisation"),
    Pair("abort in closing", "abort in closing@clang", "such a helper in a build by another compiler"),
    Pair("throw", "throw@newer", "the exception in a new version"),
    Pair("overflow", "overflow@newer", "the recursion without end in a new version"),
    Pair("hang", "hang@newer", "the hang in a new version"),
    Pair("first lock", "first lock@newer", "the lock in a new version"),
    Pair("null", "null@inlined", "the function inlined into its caller"),
    Pair("throw", "throw@O0", "the exception in a build without optimisation"),
    Pair("assert first", "assert first@stripped", "the assertion in the build without its symbols"),
    Pair("assert first", "assert first@O0", "the assertion in a build without optimisation"),
    Pair("assert first", "assert first@O3", "the assertion in a build with frame pointers and -O3"),
    Pair("assert first", "assert first@clang", "the assertion in a build by another compiler"),
    Pair("assert first", "assert first@fixed", "the assertion in a build for a fixed address"),
    Pair("assert first", "assert first@reordered", "the assertion, with objects linked in another order"),
    Pair("assert first", "assert first@newer", "the assertion in a new version, some lines further down"),
    Pair("assert first", "assert first@inlined", "the assertion, inlined into another function"),
    # recursion
    Pair("recursion 2", "recursion 200", "another depth of a recursion"),
    Pair("mutual 4", "mutual 6", "another depth of a recursion of two functions"),
    Pair("mutual 6", "mutual 60", "a far deeper recursion of two functions"),
    Pair("overflow", "overflow deeper", "the recursion without end, begun deeper in the stack"),
    Pair("overflow", "overflow in thread", "the recursion without end on a small stack"),
    Pair("mutual overflow", "mutual overflow deeper", "the stack ends in the other one of two functions"),
    Pair("mutual overflow", "mutual overflow begun by the other", "the recursion begins with the other one of two functions"),
    Pair("printing overflow", "printing overflow deeper", "the stack ends in libc, at another place"),
    # values
    Pair("wild", "wild high", "another wild pointer, which no address can be"),
    Pair("wild", "protected", "another wild pointer, into memory without access"),
    Pair("wild", "freed", "another wild pointer, to freed memory"),
    Pair("index 0", "index 5", "another index of the list that is not there"),
    Pair("call wild", "call data", "another wild function pointer, to data"),
    Pair("copy short", "copy long", "other instructions of memcpy(), from one call"),
    Pair("at 7", "at 900", "another index, and its number in the message"),
    Pair("no such user", "no such other user", "other data in the text of the exception"),
    Pair("no such file", "no such other file", "another path in the text of the exception"),
    Pair("free twice small", "free twice large", "another size of the block that is freed twice"),
    # signals
    Pair("ended early", "ended late", "ended by another process, at another place of the loop"),
    Pair("handler", "handler elsewhere", "a fault of a signal handler that came while the program did something else"),
    Pair("swift async first@swift-O", "swift async first@swift-O", "a crash that other threads wait for"),
    # hangs
    Pair("hang", "hang", "at any place of its loop"),
    Pair("first lock", "first lock", "at the same lock"),
    Pair("polls", "polls again", "in a loop that rests at two places"),
    # Swift
    Pair("swift fatal@swift-O", "swift fatal@swift-Onone", "fatalError() in a build without optimisation"),
    Pair("swift fatal@swift-O", "swift fatal other caller@swift-O", "another caller of the function with fatalError()"),
    Pair("swift index@swift-O", "swift index 90@swift-O", "another index that is out of range"),
    Pair("swift index@swift-O", "swift index@swift-Onone", "an index out of range in a build without optimisation"),
]

DIFFERENT = [
    # one function, other lines
    Pair("total first", "total second", "another line of the function"),
    Pair("total first", "total result", "the line that stores, of the function"),
    Pair("total second", "total divided", "a division by zero in the function"),
    Pair("assert first", "assert second", "two assertions in one function"),
    Pair("assert second", "assert third", "two assertions in one function, one after the other"),
    Pair("assert twin", "assert other twin", "the same assertion at two lines of one function"),
    Pair("assert first", "throw", "an assertion, and an exception"),
    Pair("trap", "raise", "two ways to end in one function"),
    Pair("length first", "length second", "strlen() called at two lines"),
    Pair("free twice small", "free inside", "the first and the second free() of one function"),
    Pair("first lock", "second lock", "two locks in one function"),
    Pair("throw", "throw later", "one exception type at two lines"),
    Pair("throw", "throw other type", "two exception types of one function"),
    Pair("throw other type", "throw own type", "two exception types of one function, one of them the program's own"),
    Pair("throw again", "throw other again", "two exceptions that one place throws again"),
    Pair("noexcept", "noexcept other", "two exceptions that reach one noexcept function"),
    Pair("at 7", "at in other line", "at() of a vector at two lines"),
    Pair("at 7", "at in other function", "at() of a vector in two functions"),
    Pair("at 7@static-runtime", "at in other function@static-runtime", "at() of a vector in two functions, the runtime in the program's file"),
    Pair("throw@static-runtime", "throw later@static-runtime", "one exception type at two lines, the runtime in the program's file"),
    Pair("thread forgotten", "throw", "std::terminate() with an exception, and without"),
    Pair("shape one", "shape other", "two functions of the same instructions but for a number, with callers of the same"),
    Pair("list null", "next null", "two null pointers of one expression"),
    # one function, other reasons
    Pair("null", "wild", "no object, and an object that is gone, at one place"),
    Pair("null", "freed", "no object, and a freed one, at one place"),
    Pair("call null", "call wild", "no callback, and a wild one, at one place"),
    # one helper
    Pair("abort in helper", "abort in helper of other", "two callers of the helper that ends the program, below three of its functions"),
    Pair("abort in closing", "abort in closing of other", "two callers of a helper that only its declaration shows"),
    Pair("abort in closing@O0", "abort in closing of other@O0", "two callers of such a helper, without optimisation"),
    Pair("abort in closing@clang", "abort in closing of other@clang", "two callers of such a helper, by another compiler"),
    Pair("abort in closing@newer", "abort in closing of other@newer", "two callers of such a helper in a new version"),
    Pair("wrapper first", "wrapper second", "two callers of one function around strlen()"),
    Pair("swift async first@swift-O", "swift async second@swift-O", "two callers of an asynchronous helper, which wait for it"),
    Pair("swift async first@swift-Onone", "swift async second@swift-Onone", "two callers of an asynchronous helper, without optimisation"),
    # modules
    Pair("library sum", "library last", "two functions of a library, called from one place"),
    Pair("library sum", "library sum@notes", "one place of two libraries"),
    Pair("library sum@rtmp", "library last@rtmp", "two functions of a library whose name begins as that of a part of libc"),
    # loops
    Pair("overflow", "other overflow", "two recursions without end"),
    Pair("overflow", "recursion 200", "a recursion without end, and a deep one that faults"),
    Pair("mutual overflow", "overflow", "recursions without end, of two functions and of one"),
    Pair("ended early", "ended elsewhere", "ended by another process in two loops"),
    Pair("hang", "other hang", "two loops that hang"),
    Pair("hang", "first lock", "a loop that hangs, and a lock"),
    # Swift
    Pair("swift fatal@swift-O", "swift fatal later@swift-O", "two calls of fatalError() in one function"),
    Pair("swift fatal@swift-O", "swift index@swift-O", "fatalError() and an index out of range in one function"),
    Pair("swift index@swift-O", "swift nil@swift-O", "an index out of range and a nil in one function"),
    Pair("swift nil@swift-Onone", "swift precondition@swift-Onone", "a nil and a precondition in one function"),
]
