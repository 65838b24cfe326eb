/* The notes in SQLite, with the bug: see load_summary(). */
#define _POSIX_C_SOURCE 200809L

#include "database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static int fail(sqlite3 *database, const char *what) {
    fprintf(stderr, "notes: %s: %s\n", what, database == NULL ? "out of memory" : sqlite3_errmsg(database));
    sqlite3_close(database);
    return 1;
}

int open_database(const char *path, sqlite3 **ret_database) {
    if (sqlite3_open(path, ret_database) != SQLITE_OK) return fail(*ret_database, "cannot open the database");
    const char *schema = "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
    if (sqlite3_exec(*ret_database, schema, NULL, NULL, NULL) != SQLITE_OK) return fail(*ret_database, "cannot make the table");
    return 0;
}

static int insert_note(sqlite3 *database, const char *text) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, "INSERT INTO notes (text) VALUES (?)", -1, &statement, NULL) != SQLITE_OK) return SQLITE_ERROR;
    sqlite3_bind_text(statement, 1, text, -1, SQLITE_TRANSIENT);
    sqlite3_step(statement);
    return sqlite3_finalize(statement);
}

int add_note(const char *path, int count, char **words) {
    sqlite3 *database = NULL;
    if (open_database(path, &database) != 0) return 1;
    char text[4096] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? "" : " ", words[i]);
    }
    if (insert_note(database, text) != SQLITE_OK) return fail(database, "cannot add the note");
    sqlite3_close(database);
    return 0;
}

int import_notes(const char *path, const char *file_path) {
    FILE *file = fopen(file_path, "r");
    if (file == NULL) {
        fprintf(stderr, "notes: cannot open %s: %s\n", file_path, strerror(errno));
        return 1;
    }
    sqlite3 *database = NULL;
    if (open_database(path, &database) != 0) {
        fclose(file);
        return 1;
    }
    int result = sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
    char *line = NULL;
    size_t size = 0;
    while (result == SQLITE_OK && getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0') result = insert_note(database, line);
    }
    free(line);
    fclose(file);
    if (result == SQLITE_OK) result = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    if (result != SQLITE_OK) return fail(database, "cannot import the notes");
    sqlite3_close(database);
    return 0;
}

static int print_row(void *unused, int columns, char **values, char **names) {
    (void)unused, (void)columns, (void)names;
    puts(values[0]);
    return 0;
}

int print_query(const char *path, const char *query) {
    sqlite3 *database = NULL;
    if (open_database(path, &database) != 0) return 1;
    if (sqlite3_exec(database, query, print_row, NULL, NULL) != SQLITE_OK) return fail(database, "cannot read the notes");
    sqlite3_close(database);
    return 0;
}

static int check_row(void *is_whole, int columns, char **values, char **names) {
    (void)columns, (void)names;
    *(int *)is_whole = strcmp(values[0], "ok") == 0;
    return 0;
}

int copy_database(const char *from, const char *to) {
    char copy[PATH_SIZE];
    if (snprintf(copy, sizeof copy, "%s.new", to) >= PATH_SIZE) return 1;
    unlink(copy);
    sqlite3 *source = NULL;
    sqlite3 *target = NULL;
    int is_whole = 0;
    if (sqlite3_open_v2(from, &source, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK && sqlite3_open(copy, &target) == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(target, "main", source, "main");
        if (backup != NULL) {
            int copied = sqlite3_backup_step(backup, -1) == SQLITE_DONE;
            sqlite3_backup_finish(backup);
            if (copied) sqlite3_exec(target, "PRAGMA integrity_check", check_row, &is_whole, NULL);
        }
    }
    sqlite3_close(source);
    sqlite3_close(target);
    if (!is_whole) {
        fprintf(stderr, "notes: cannot copy %s, or the copy is damaged\n", from);
        unlink(copy);
        return 1;
    }
    /* A journal of the old file must not be applied to the new one. */
    char journal[PATH_SIZE];
    if (snprintf(journal, sizeof journal, "%s-journal", to) < PATH_SIZE) unlink(journal);
    return rename(copy, to) == 0 ? 0 : 1;
}

/** Copy the beginning of a text, whole UTF-8 characters. */
static void copy_excerpt(char *excerpt, const char *text) {
    size_t size = 0;
    while (size < EXCERPT_SIZE - 1 && text[size] != '\0') {
        excerpt[size] = text[size];
        size++;
    }
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) size--;
    excerpt[size] = '\0';
}

void load_summary(sqlite3 *database, struct summary *ret_summary) {
    const char *query = "SELECT count(*), coalesce((SELECT text FROM notes ORDER BY id LIMIT 1), ''),"
                        " coalesce((SELECT text FROM notes ORDER BY id DESC LIMIT 1), '') FROM notes";
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(database, query, -1, &statement, NULL);
    /* The bug: a query like this always has exactly one row, so nobody checks the result. */
    sqlite3_step(statement);
    ret_summary->count = sqlite3_column_int(statement, 0);
    copy_excerpt(ret_summary->first, (const char *)sqlite3_column_text(statement, 1));
    copy_excerpt(ret_summary->last, (const char *)sqlite3_column_text(statement, 2));
    sqlite3_finalize(statement);
}
