/// Functions of C libraries that a program may have inside it, beyond those that
/// `lg_code_is_common()` knows: a symbol table says nothing of where they come from.
enum RuntimeNames {
    /// A function with a file of the source is the program's own, whatever its name.
    static func has(_ symbol: Symbol) -> Bool {
        guard symbol.file == nil, symbol.mangledName == nil else { return false }
        return names.contains(symbol.name) || prefixes.contains(where: symbol.name.hasPrefix)
    }

    private static let prefixes = ["_IO_", "_dl_", "_nl_", "_itoa", "_fitoa", "_Unwind_", "pthread_", "sem_", "mtx_", "cnd_", "thrd_", "posix_", "_quicksort", "msort_"]

    private static let names = Set(
        """
        accept access alarm aligned_alloc asprintf assert_fail at_quick_exit atexit atof atoi atol bcmp bcopy bind bzero clearerr close closedir connect \
        ctime dlclose dlerror dlopen dlsym dprintf dup dup2 epoll_wait err error errx execl execlp execv execve execvp explicit_bzero fclose fcntl fdopen \
        feof ferror fflush fgetc fgetpos fgets fileno fopen fork fputc fputs fread freeaddrinfo freopen frexp fscanf fseek fsetpos fstat fsync ftell \
        ftruncate futex_wait fwrite getaddrinfo getc getchar getcwd getdelim getenv getline getpid gets glob globfree gmtime inet_ntop inet_pton ioctl \
        isatty kill ldexp listen localeconv localtime longjmp lseek malloc_usable_size mblen mbrtowc mbstowcs memccpy memmem mempcpy memrchr mkdir \
        mkstemp mktime mmap mprotect munmap nanosleep open openat opendir pause pclose perror pipe poll popen ppoll putc putchar putenv pwrite pread \
        quick_exit rand random read readdir readlink readv realpath recv recvfrom recvmsg regcomp regexec regfree remove rename rewind rmdir scanf select \
        send sendmsg sendto setenv setjmp setlocale setvbuf shutdown sigaction siglongjmp signal sigprocmask sleep snprintf socket srand sscanf stat \
        stpcpy stpncpy strcasecmp strcoll strcspn strerror strftime strlcat strlcpy strncasecmp strncat strndup strnlen strpbrk strsep strsignal strspn \
        strstr strtod strtof strtok strtok_r strtol strtold strtoll strtoul strtoull strverscmp strxfrm symlink syscall sysconf system tcgetattr time \
        timegm tmpfile tolower toupper tzset ungetc unlink unsetenv usleep vasprintf vdprintf verr verrx vprintf vscanf vsprintf vsscanf wait wait4 \
        waitpid warn warnx wcscmp wcscpy wcslen wmemcpy wmemset write writev
        """.split(separator: " ").map(String.init))
}
