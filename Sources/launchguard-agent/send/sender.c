#include "send/sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <time.h>

#include "os/fault_point.h"
#include "send/retry.h"

bool sender_open(struct sender *ret_sender)
{
    *ret_sender = (struct sender){ .multi = NULL };
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return false;
    ret_sender->multi = curl_multi_init();
    return ret_sender->multi != NULL;
}

void sender_close(struct sender *sender)
{
    sender_cancel(sender);
    if (sender->multi)
        curl_multi_cleanup(sender->multi);
    sender->multi = NULL;
}

void sender_cancel(struct sender *sender)
{
    if (sender->easy) {
        curl_multi_remove_handle(sender->multi, sender->easy);
        curl_easy_cleanup(sender->easy);
    }
    sender->easy = NULL;
    curl_slist_free_all(sender->headers);
    sender->headers = NULL;
    request_free(&sender->request);
}

/* ---- the answer ---- */

static bool header_is(const char *line, size_t size, const char *name, char *ret_value, size_t room)
{
    size_t length = strlen(name);
    if (size <= length || strncasecmp(line, name, length) != 0 || line[length] != ':')
        return false;
    const char *value = line + length + 1;
    size -= length + 1;
    while (size && (*value == ' ' || *value == '\t')) {
        value++;
        size--;
    }
    while (size && (value[size - 1] == '\r' || value[size - 1] == '\n'))
        size--;
    size = size < room - 1 ? size : room - 1;
    memcpy(ret_value, value, size);
    ret_value[size] = 0;
    return true;
}

static void take_pause(struct answer *answer, uint64_t pause_ns)
{
    answer->pause_ns = answer->has_pause && answer->pause_ns > pause_ns ? answer->pause_ns : pause_ns;
    answer->has_pause = true;
}

static size_t on_header(char *line, size_t one, size_t size, void *user)
{
    struct sender *sender = user;
    char value[512];
    uint64_t pause;
    size *= one;
    if (size >= 5 && strncasecmp(line, "HTTP/", 5) == 0) /* of another answer, as after 100 */
        sender->answer = (struct answer){ .http_status = 0 }, sender->hints = 0;
    else if (header_is(line, size, HINT_HEADER, sender->hint, sizeof sender->hint))
        sender->hints++;
    else if (header_is(line, size, "Retry-After", value, sizeof value) && retry_after(value, (int64_t)time(NULL), &pause))
        take_pause(&sender->answer, pause);
    else if (header_is(line, size, "X-Sentry-Rate-Limits", value, sizeof value) && retry_rate_limits(value, &pause))
        take_pause(&sender->answer, pause);
    sender->answer_bytes += size;
    return sender->answer_bytes <= ANSWER_BYTES_MAX ? size : 0;
}

static size_t on_body(char *bytes, size_t one, size_t size, void *user)
{
    struct sender *sender = user;
    size *= one;
    sender->answer_bytes += size;
    if (sender->answer_bytes > ANSWER_BYTES_MAX)
        return 0;
    memcpy(sender->body + sender->body_bytes, bytes, size);
    sender->body_bytes += size;
    return size;
}

/* ---- the request ---- */

static bool copy_headers(struct curl_slist **list, const struct curl_slist *from)
{
    for (; from; from = from->next) {
        struct curl_slist *more = curl_slist_append(*list, from->data);
        if (!more)
            return false;
        *list = more;
    }
    return true;
}

static bool set_options(struct sender *sender, const char *ca_file)
{
    CURL *easy = sender->easy;
    bool set = curl_easy_setopt(easy, CURLOPT_URL, sender->request.url) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POSTFIELDS, sender->request.body) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sender->request.bytes) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HTTPHEADER, sender->headers) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_USERAGENT, AGENT_NAME) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, REQUEST_MS + (long)sender->request.bytes * 1000 / SLOW_BYTES_PER_S) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HEADERDATA, sender) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEDATA, sender) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, sender->error) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK;
    /* an answer to Expect: 100-continue costs a second where the server does not know it */
#if LIBCURL_VERSION_NUM >= 0x075500
    set = set && curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
    set = set && curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) == CURLE_OK;
#endif
    if (ca_file[0])
        set = set && curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file) == CURLE_OK;
    if (getauxval(AT_SECURE)) /* the environment belongs to somebody else */
        set = set && curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK;
    return set;
}

bool sender_begin(struct sender *sender, lg_delivery_target target, struct request *request, const struct credentials *credentials, const char *ca_file)
{
    sender->request = *request;
    *request = (struct request){ .headers = NULL };
    sender->answer = (struct answer){ .http_status = 0 };
    sender->target = target;
    sender->answer_bytes = sender->body_bytes = 0;
    sender->hints = 0;
    sender->error[0] = 0;
    sender->easy = curl_easy_init();
    bool ready = sender->easy && copy_headers(&sender->headers, sender->request.headers) && copy_headers(&sender->headers, credentials->headers);
    struct curl_slist *more = ready ? curl_slist_append(sender->headers, "Expect:") : NULL;
    sender->headers = more ? more : sender->headers;
    if (!more || !set_options(sender, ca_file) || curl_multi_add_handle(sender->multi, sender->easy) != CURLM_OK) {
        sender_cancel(sender);
        return false;
    }
    LG_FAULT_POINT("sender: request begins");
    return true;
}

/* ---- going on ---- */

static bool is_positive(const struct answer *answer)
{
    return answer->http_status >= 200 && answer->http_status < 300;
}

static void explain(const struct sender *sender, CURLcode code, char ret_why[LG__REPORT_ERROR_BYTES])
{
    ret_why[0] = 0;
    if (code != CURLE_OK) {
        const char *words = sender->error[0] ? sender->error : curl_easy_strerror(code);
        if (code == CURLE_WRITE_ERROR)
            words = "the answer is longer than 64 KiB";
        snprintf(ret_why, LG__REPORT_ERROR_BYTES, "%.150s", words);
    } else if (!is_positive(&sender->answer)) {
        snprintf(ret_why, LG__REPORT_ERROR_BYTES, "the server answered %d%s", sender->answer.http_status,
                 sender->answer.http_status >= 300 && sender->answer.http_status < 400 ? ": correct the endpoint, redirects are not followed" : "");
    }
}

static void conclude(struct sender *sender, CURLcode code, char ret_why[LG__REPORT_ERROR_BYTES])
{
    long status = 0, sent = 0, head = 0;
    curl_off_t up = 0, down = 0;
    struct answer *answer = &sender->answer;
    curl_easy_getinfo(sender->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(sender->easy, CURLINFO_REQUEST_SIZE, &sent);
    curl_easy_getinfo(sender->easy, CURLINFO_HEADER_SIZE, &head);
    curl_easy_getinfo(sender->easy, CURLINFO_SIZE_UPLOAD_T, &up);
    curl_easy_getinfo(sender->easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
    answer->bytes = (uint64_t)(sent + head + up + down);
    answer->http_status = (int)status;
    answer->none_left = sent == 0;
    explain(sender, code, ret_why);
    if (code != CURLE_OK) { /* an answer that was cut says nothing for certain */
        answer->http_status = 0;
    } else if (is_positive(answer)) {
        answer->reply = target_reply(sender->target, sender->body, sender->body_bytes, ret_why);
    }
}

bool sender_step(struct sender *sender, struct curl_waitfd *others, unsigned count, int timeout_ms, struct answer *ret_answer,
                 char ret_why[LG__REPORT_ERROR_BYTES])
{
    int running = 0, left = 0;
    curl_multi_perform(sender->multi, &running);
    if (running || !sender->easy) {
        curl_multi_poll(sender->multi, others, count, timeout_ms, NULL);
        curl_multi_perform(sender->multi, &running);
    }
    for (CURLMsg *message; (message = curl_multi_info_read(sender->multi, &left));) {
        if (message->msg != CURLMSG_DONE)
            continue;
        conclude(sender, message->data.result, ret_why);
        LG_FAULT_POINT("sender: answer");
        *ret_answer = sender->answer;
        sender_cancel(sender);
        return true;
    }
    return false;
}
