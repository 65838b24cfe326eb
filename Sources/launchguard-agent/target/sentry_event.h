/* The event of Sentry that is made of the brief part. */
#ifndef AGENT_SENTRY_EVENT_H
#define AGENT_SENTRY_EVENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The most bytes of a release, and of the value of a tag. */
#define SENTRY_TEXT_MAX 200u

/* Whether there is nothing but blanks: the server refuses such a tag. */
bool sentry_event_is_blank(const char *text);

/* Add a text in the form that the server takes: it refuses a release, an environment or a tag that
 * is longer than `most`, at most SENTRY_TEXT_MAX, is blank, or has one of such characters. */
void sentry_event_put(json_t *object, const char *key, const char *text, const char *forbidden, size_t most);

/* Add the release: application and version. */
void sentry_event_put_release(json_t *object, const json_t *report);

/* `event_id`: 32 hexadecimal digits. `more`: further runs for which the report stands. */
json_t *sentry_event(const json_t *report, const char *event_id, uint64_t more);

/* An entry of debug_meta. `build_id`: hexadecimal digits, not "". */
json_t *sentry_event_image(const char *path, const char *build_id, const char *start);

#endif
