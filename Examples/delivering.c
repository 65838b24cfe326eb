/* Reports leave the machine, also of a program that crashes at every start. */
#include <launchguard/launchguard.h>
#include <stdio.h>

static void show_report(const lg_report_batch *batch, lg_completion *done, void *user) {
    lg_session *session = user;
    lg_delivery_result result;
    printf("%u crashes in a row: sending a report …\n", batch->streak);
    /* Only where the agent cannot outlive this program, as in a container. */
    lg_delivery_wait(session, 2000, NULL, NULL, &result);
    lg_complete(done, LG_OK);
}

static void thank(const lg_delivery_info *report, void *user) {
    (void)user;
    printf("report %s was delivered\n", report->uuid);
}

int main(void) {
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.delivering";
    lg_session *session;
    lg_start(&options, &session);

    lg_delivery_options delivery = LG_DELIVERY_OPTIONS_INIT;
    delivery.target = LG_TARGET_HTTP;
    delivery.endpoint = "https://reports.example.org/crashes";
    delivery.consent = LG_CONSENT_GIVEN; /* The user said so. */
    delivery.on_delivered = thank;
    if (lg_delivery_start(session, &delivery) != LG_OK)
        fprintf(stderr, "%s\n", lg_session_message(session));

    lg_launch_options launch_options = LG_LAUNCH_OPTIONS_INIT;
    launch_options.report_after = 2;
    launch_options.on_report = show_report;
    launch_options.user = session;
    lg_launch *launch;
    lg_launch_prepare(session, "main", &launch_options, &launch);
    lg_launch_begin(launch);
    /* … the program works … */
    lg_launch_finished(launch);
    return 0;
}
