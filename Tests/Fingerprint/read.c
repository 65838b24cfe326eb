/* print-read DIRECTORY...: the fingerprint and the end of the one run in each state directory. */
#include <launchguard/reader.h>

#include <glob.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        char pattern[4096], fingerprint[33];
        glob_t files;
        lg_reader *reader;
        lg_verdict verdict;
        snprintf(pattern, sizeof pattern, "%s/runs/*.lgrun", arguments[i]);
        if (glob(pattern, 0, NULL, &files) != 0 || files.gl_pathc != 1 || lg_reader_open(files.gl_pathv[0], &reader) != LG_OK ||
            lg_reader_fingerprint(reader, fingerprint) != LG_OK || lg_reader_verdict(reader, &verdict) != LG_OK) {
            fprintf(stderr, "%s has not one run file that can be read\n", arguments[i]);
            return 1;
        }
        printf("%s %s\n", fingerprint, lg_end_name(verdict.end));
        lg_reader_close(reader);
        globfree(&files);
    }
    return 0;
}
