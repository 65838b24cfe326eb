/* The program of delivery.py.
 *
 *   delivering STATE ENDPOINT crash   deliver; print "ready" once an agent waits for this process;
 *                                     then print CLOCK_REALTIME and die of SIGSEGV
 *   delivering STATE ENDPOINT at-once the same without waiting for the agent
 *   delivering STATE ENDPOINT live    deliver, print "ready", live until standard input ends
 *   delivering STATE ENDPOINT start   print the nanoseconds that lg_delivery_start() took */
#include <launchguard/launchguard.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void await_agent(lg_session *session)
{
    for (int tries = 0; tries < 5000; tries++) {
        lg_reader *reader;
        lg_run_info info = { .attached = 0 };
        if (lg_reader_open(lg_session_run_path(session), &reader) == LG_OK) {
            lg_reader_run(reader, &info);
            lg_reader_close(reader);
        }
        if (info.attached)
            return;
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    fputs("no agent came\n", stderr);
}

int main(int count, char **arguments)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_delivery_options delivery = LG_DELIVERY_OPTIONS_INIT;
    lg_session *session;
    if (count != 4)
        return 2;
    options.app_id = "org.example.delivering";
    options.state_directory = arguments[1];
    delivery.target = LG_TARGET_HTTP;
    delivery.endpoint = arguments[2];
    delivery.consent = LG_CONSENT_GIVEN;
    lg_status status = lg_start(&options, &session);
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    status = status == LG_OK ? lg_delivery_start(session, &delivery) : status;
    uint64_t took = now_ns(CLOCK_MONOTONIC) - begin;
    if (status != LG_OK) {
        fprintf(stderr, "%s: %s\n", lg_status_name(status), lg_session_message(session));
        return 1;
    }
    if (strcmp(arguments[3], "start") == 0) {
        printf("%" PRIu64 "\n", took);
        return 0;
    }
    if (strcmp(arguments[3], "at-once") != 0)
        await_agent(session);
    if (strcmp(arguments[3], "live") == 0) {
        char byte;
        puts("ready");
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0) {}
        return 0;
    }
    printf("%" PRIu64 "\n", now_ns(CLOCK_REALTIME));
    fflush(stdout);
    static volatile int *volatile nowhere;
    *nowhere = 1;
    return 0;
}
