/* Stands in for the parts that make texts, until they are there. */
#include "compose.h"
#include "target.h"
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
lg_status lg_reader_fingerprint(lg_reader *r, char h[33]);
lg_status lg_reader_fingerprint(lg_reader *r, char h[33]) { (void)r; memset(h, 'a', 32); h[32] = 0; return LG_OK; }
char *compose_brief(lg_reader *r, const struct facts *f, size_t *n) { (void)r; char *b = malloc(512); *n = (size_t)snprintf(b, 512, "{\"uuid\":\"%s\",\"end\":\"%s\"}", f->uuid, lg_end_name(f->verdict.end)); return b; }
char *compose_full(lg_reader *r, const struct facts *f, size_t *n) { return compose_brief(r, f, n); }
bool target_takes(lg_delivery_target t, enum part p) { (void)t; (void)p; return true; }
void request_free(struct request *r) { curl_slist_free_all(r->headers); free(r->body); *r = (struct request){ .headers = NULL }; }
bool target_request(const struct lg__delivery_config *c, const struct credentials *k, const struct letter *l, enum part p, struct request *r, char w[160])
{ (void)k; (void)w; snprintf(r->url, sizeof r->url, "%s", c->endpoint); r->headers = curl_slist_append(NULL, p ? "X-LaunchGuard-Part: full" : "X-LaunchGuard-Part: brief"); const char *b = p ? l->full : l->brief; r->bytes = p ? l->header.full_bytes : l->header.brief_bytes; r->body = malloc(r->bytes + 1); memcpy(r->body, b, r->bytes); return true; }
