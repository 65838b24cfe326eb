/* The options of lg_delivery_start(): the texts are checked. */
#include <stdio.h>

#include "session/delivery.h"
#include "store/endpoint.h"
#include "store/given.h"

static lg_status take_endpoint(const lg_delivery_options *options, struct lg__delivery_config *config, struct lg__problem *problem)
{
    const char *endpoint = options->endpoint;
    struct lg__endpoint parts;
    if (!endpoint || !*endpoint)
        return options->credential_file
                   ? LG_OK
                   : lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: endpoint is missing; give the address, or a credential_file that holds it");
    if (strlen(endpoint) > LG_ENDPOINT_MAX)
        return lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: endpoint has %zu bytes; at most %d fit", strlen(endpoint), LG_ENDPOINT_MAX);
    const char *wrong = lg__endpoint_parse(options->target, endpoint, &parts);
    if (wrong)
        return lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: endpoint cannot be used: %s", wrong);
    memcpy(config->endpoint, endpoint, strlen(endpoint) + 1);
    return LG_OK;
}

static lg_status take_path(const char *name, const char *path, char *to, size_t room, struct lg__problem *problem)
{
    if (!path)
        return LG_OK;
    if (path[0] != '/' || strpbrk(path, "\r\n"))
        return lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: %s is \"%.200s\"; it must be an absolute path without a line break", name, path);
    if (strlen(path) >= room)
        return lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: %s has %zu bytes; at most %zu fit", name, strlen(path), room - 1);
    if (to)
        memcpy(to, path, strlen(path) + 1);
    return LG_OK;
}

static lg_status take_paths(const lg_delivery_options *options, struct lg__delivery_config *config, struct lg__problem *problem)
{
    const size_t room = sizeof config->ca_file;
    lg_status status = take_path("credential_file", options->credential_file, config->credential_file, room, problem);
    if (status == LG_OK)
        status = take_path("ca_file", options->ca_file, config->ca_file, room, problem);
    return status == LG_OK ? take_path("agent_path", options->agent_path, NULL, 4096, problem) : status;
}

static lg_status take_hint_key(const char *key, struct lg__delivery_config *config, struct lg__problem *problem)
{
    uint8_t bytes[LG__HINT_KEY_BYTES];
    if (!key)
        return LG_OK;
    if (!lg__hint_key(key, bytes))
        return lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: hint_key is \"%.80s\"; it must be the 32 bytes of an Ed25519 public key in hexadecimal digits or base64", key);
    memcpy(config->hint_key, key, strlen(key) + 1);
    return LG_OK;
}

lg_status lg__delivery_options_take(const lg_delivery_options *given, struct lg__delivery_config *ret_config, struct lg__problem *problem)
{
    lg_delivery_options own = LG_DELIVERY_OPTIONS_INIT, *const options = &own;
    char wrong[LG__GIVEN_WRONG_BYTES];
    if (!lg__given_take(&lg__given_delivery_options, options, given, wrong))
        return lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: %s", wrong);
    struct lg__delivery_config config = { .options = own };
    lg_status status = take_endpoint(options, &config, problem);
    if (status == LG_OK)
        status = take_paths(options, &config, problem);
    if (status == LG_OK)
        status = take_hint_key(options->hint_key, &config, problem);
    if (status != LG_OK)
        return status;
    *ret_config = config;
    return LG_OK;
}
