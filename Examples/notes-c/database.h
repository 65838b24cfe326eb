/* The notes: rows of a SQLite database. Functions that return int print an error to stderr and
 * return 1, or return 0. */
#ifndef NOTES_DATABASE_H
#define NOTES_DATABASE_H

#include <sqlite3.h>

enum { EXCERPT_SIZE = 60 };

/** The summary that the start shows. */
struct summary {
    int count;
    char first[EXCERPT_SIZE];
    char last[EXCERPT_SIZE];
};

/** Open the database, with a new table if there is none. */
int open_database(const char *path, sqlite3 **ret_database);

/** Add a note made of some words. */
int add_note(const char *path, int count, char **words);

/** Add each line of a file that is not empty. */
int import_notes(const char *path, const char *file_path);

/** Print the first column of the rows of a query. */
int print_query(const char *path, const char *query);

/** Copy a database to a new file, check the copy, and only then put it in its place. */
int copy_database(const char *from, const char *to);

/** Read the number of notes, the first and the last. */
void load_summary(sqlite3 *database, struct summary *ret_summary);

#endif
