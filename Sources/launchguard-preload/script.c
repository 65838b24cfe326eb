#include "script.h"

#include <stdbool.h>
#include <string.h>

/* Lists of words. An option of one letter may stand in a word with others. */
struct interpreter {
    const char *names;  /* without a version */
    const char *values; /* options with a value: the rest of the word, or else the next word */
    const char *scripts; /* those whose value is the script */
    const char *codes;  /* with them there is no script */
    const char *rests;  /* options whose value can only be the rest of the word */
};

static const struct interpreter interpreters[] = {
    { "python pypy", "-W -X -Q --check-hash-based-pycs", "-m", "-c", "" },
    { "sh dash bash ash ksh mksh zsh", "-o +o -O +O --rcfile --init-file", "", "-c -s", "" },
    { "perl", "-I", "", "-e -E", "-C -D -F -M -V -d -i -m -x" },
    { "ruby jruby", "-C -E -I -r --encoding --external-encoding --internal-encoding", "", "-e", "-F -K -T -W -i -x" },
    { "node nodejs", "-C -r --conditions --env-file --experimental-loader --import --loader --require --title", "", "-e -p --eval --print", "" },
    { "lua luajit", "-e -l", "", "", "-O -j" },
    { "php", "-c -d -t -z --define --docroot --php-ini --zend-extension", "-f --file", "-B -E -R -S -a -r --run --server", "" },
    { "java", "-cp -classpath --class-path -p --module-path --add-exports --add-modules --add-opens --add-reads --limit-modules --source --upgrade-module-path",
      "-jar -m --module", "", "-D -X -a -d -e -s -v" },
};

const char *lg__script_last_part(const char *path, size_t *ret_size)
{
    size_t end = strlen(path), begin;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--) {}
    *ret_size = end - begin;
    return path + begin;
}

static bool lists(const char *list, const char *word, size_t size)
{
    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length == size && memcmp(at, word, size) == 0)
            return true;
        at += length;
    }
    return false;
}

static const struct interpreter *find(const char *program)
{
    size_t size;
    const char *name = lg__script_last_part(program, &size);
    for (; size && *name == '-'; size--) /* of a login shell */
        name++;
    while (size && strchr("0123456789.", name[size - 1]))
        size--;
    for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++)
        if (size && lists(interpreters[i].names, name, size))
            return &interpreters[i];
    return NULL;
}

enum found { FLAG, VALUE, SCRIPT, CODE };

/* Meaning of a word that is an option, and where a value begins in the word; NULL: it does not. */
static enum found judge(const struct interpreter *by, const char *word, const char **ret_value)
{
    const size_t size = strlen(word);
    const bool is_one = word[1] && word[1] != '-';
    *ret_value = NULL;
    /* the whole word, then letter by letter */
    for (size_t i = 0; i < (is_one ? size : 1); i++) {
        const char letter[2] = { word[0], word[i] };
        const char *option = i ? letter : word;
        const size_t length = i ? sizeof letter : size;
        if (i && word[i + 1])
            *ret_value = word + i + 1;
        if (lists(by->codes, option, length))
            return CODE;
        if (lists(by->scripts, option, length))
            return SCRIPT;
        if (lists(by->values, option, length))
            return VALUE;
        *ret_value = NULL;
        if (lists(by->rests, option, length))
            return FLAG;
    }
    return FLAG;
}

/* The kernel puts the path of a script after its interpreter and at most one option. env(1) only
 * executes the interpreter. */
static const char *executed_script(int count, char *const *arguments, const char *executed)
{
    size_t size;
    const char *name = lg__script_last_part(arguments[0], &size);
    if (size == 3 && memcmp(name, "env", 3) == 0)
        return NULL;
    for (int i = 1; i < 3 && i < count; i++)
        if (strcmp(arguments[i], executed) == 0)
            return arguments[i];
    return NULL;
}

const char *lg__script_find(int count, char *const *arguments, const char *executed)
{
    if (count < 2)
        return NULL;
    const char *script = executed_script(count, arguments, executed);
    const struct interpreter *by = find(arguments[0]);
    if (script || !by)
        return script;
    for (int i = 1; i < count; i++) {
        const char *word = arguments[i], *value;
        if (word[0] != '-' && word[0] != '+')
            return *word ? word : NULL;
        if (!word[1])
            return NULL; /* standard input */
        if (strcmp(word, "--") == 0)
            return i + 1 < count ? arguments[i + 1] : NULL;
        const enum found found = judge(by, word, &value);
        if (found == CODE)
            return NULL;
        if (found == SCRIPT)
            return value ? value : i + 1 < count ? arguments[i + 1] : NULL;
        if (found == VALUE && !value)
            i++;
    }
    return NULL;
}
