/* The script among the arguments of an interpreter. */
#include "script.h"

#include <stdio.h>
#include <string.h>

#define MOST 12

static const struct row {
    const char *script; /* NULL: none */
    const char *executed;
    const char *words[MOST];
} rows[] = {
    { "server.py", "/usr/bin/python3", { "python3", "server.py", "-c", "x" } },
    { "/srv/server.py", "/usr/bin/python3.11", { "/usr/bin/python3.11", "-u", "-W", "error", "-Xdev", "/srv/server.py" } },
    { "http.server", "", { "python3", "-um", "http.server", "8000" } },
    { "http.server", "", { "python3", "-mhttp.server" } },
    { NULL, "", { "python3", "-Ic", "import notes", "notes.py" } },
    { NULL, "", { "python3" } },
    { NULL, "", { "python3", "-" } },
    { "-odd.py", "", { "pypy3", "--", "-odd.py" } },
    { "a.py", "", { "python3", "--check-hash-based-pycs", "always", "a.py" } },
    { "work", "", { "-bash", "-euo", "pipefail", "work", "one" } },
    { NULL, "", { "sh", "-ec", "exit 3", "zero" } },
    { NULL, "", { "sh", "-s", "word" } },
    { "work", "", { "dash", "+x", "+o", "nounset", "work" } },
    { "work", "", { "bash", "--rcfile", "none", "--norc", "work" } },
    { "work.pl", "", { "perl", "-w", "-MText::Wrap", "-I", "lib", "-Ilib", "work.pl" } },
    { NULL, "", { "perl5.36", "-lane", "print", "data" } },
    { "work.rb", "", { "ruby3.1", "-rset", "-W0", "-I", "lib", "work.rb" } },
    { "app.js", "", { "node", "--max-old-space-size=100", "-r", "dotenv", "app.js", "-e" } },
    { NULL, "", { "node", "-pe", "1", "app.js" } },
    { "work.lua", "", { "lua5.4", "-e", "x = 1", "-lbase", "work.lua" } },
    { "artisan", "", { "php8.2", "-d", "memory_limit=1G", "-dzend.x=1", "artisan", "serve" } },
    { "work.php", "", { "php", "-f", "work.php" } },
    { NULL, "", { "php", "-r", "exit(3);" } },
    { "/srv/x.jar", "", { "java", "-Xmx1g", "-ea", "-cp", "a:b", "-jar", "/srv/x.jar", "arg" } },
    { "com.example.Main", "", { "java", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-server", "com.example.Main" } },
    { NULL, "", { "java", "-version" } },
    /* executed scripts: of any interpreter, after at most one option */
    { "/srv/work", "/srv/work", { "/usr/bin/python3", "/srv/work", "x" } },
    { "./work", "./work", { "/usr/bin/Rscript", "--vanilla", "./work" } },
    { NULL, "/srv/work", { "/usr/bin/env", "python3", "/srv/work" } },
    { NULL, "/bin/cp", { "cp", "a", "b", "/bin/cp" } },
    /* no interpreters */
    { NULL, "", { "nginx", "-g", "daemon off;" } },
    { NULL, "", { "7", "x" } },
    { NULL, "", { "pythonic", "x" } },
};

int main(void)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int count = 0;
        while (count < MOST && rows[i].words[count])
            count++;
        const char *found = lg__script_find(count, (char *const *)(const void *)rows[i].words, rows[i].executed);
        if (found == rows[i].script || (found && rows[i].script && strcmp(found, rows[i].script) == 0))
            continue;
        fprintf(stderr, "row %zu: %s and not %s\n", i, found ? found : "none", rows[i].script ? rows[i].script : "none");
        wrong++;
    }
    return wrong != 0;
}
