/** Delivery: reports leave the machine, even when the program crashes in a loop or never starts
 *  again.
 *
 *  The program only says where reports go. A small program of its own, `launchguard-agent`, makes
 *  the reports from the run files and sends them. The agent outlives the program, and waits as a
 *  witness for its end. Each report keeps one identity for all attempts, and is deleted only after
 *  a positive answer: a server may see a report twice under one identity, and never under two.
 *
 *  Nothing is sent before the user consented (lg_delivery_options.consent, lg_delivery_consent()).
 *
 *  Caveats
 *  - The agent has a session (setsid) of its own, but a service manager that ends all processes of
 *    a unit also ends the agent. In a container the agent dies with PID 1. Reports that were not
 *    sent stay in the state directory and go when an agent runs again: at the next
 *    lg_delivery_start(), or by `launchguard upload`.
 *  - A program that is PID 1 or a subreaper becomes the parent of the agent, as of each orphan.
 *  - A simulated session delivers nothing: each call checks its arguments and returns LG_OK, and
 *    lg_delivery_wait() finds LG_DELIVERY_NOTHING.
 */
#ifndef LAUNCHGUARD_DELIVERY_H
#define LAUNCHGUARD_DELIVERY_H

#include <launchguard/end.h>
#include <launchguard/session.h>

/** The kind of server that reports go to. */
typedef enum lg_delivery_target {
    LG_TARGET_HTTP = 1,   /**< each report is the JSON body of a POST to the endpoint */
    LG_TARGET_SENTRY = 2, /**< Sentry envelopes; the endpoint is the DSN */
    LG_TARGET_OTLP = 3,   /**< OTLP/HTTP log records in JSON, POSTed to the endpoint, for example
                               "https://collector:4318/v1/logs" */
    /** a minidump in a form, as servers of Breakpad and Crashpad take it, POSTed to the endpoint,
     *  for example "https://sentry.example.org/api/42/minidump/?sentry_key=KEY". The bytes of the
     *  stacks leave with it: see docs/DELIVERY.md. */
    LG_TARGET_MINIDUMP = 4
} lg_delivery_target;

/** Whether reports may leave the machine. */
typedef enum lg_consent {
    LG_CONSENT_KEPT = 0,    /**< as stored in the state directory; at first: withheld */
    LG_CONSENT_GIVEN = 1,
    LG_CONSENT_WITHHELD = 2 /**< the reports that were not sent are deleted */
} lg_consent;

/** A bit of lg_delivery_options.ends. */
#define LG_DELIVERY_END(end) (UINT32_C(1) << (end))
/** A bit of lg_delivery_options.ends: an unknown end while a launch was under way. */
#define LG_DELIVERY_UNKNOWN_IN_LAUNCH (UINT32_C(1) << 31)
/** lg_delivery_options.ends unless the program says more: crash, hang, oom, killed, and unknown in
 *  a launch. */
#define LG_DELIVERY_ENDS                                                                           \
    (LG_DELIVERY_END(LG_END_CRASH) | LG_DELIVERY_END(LG_END_HANG) | LG_DELIVERY_END(LG_END_OOM) |   \
     LG_DELIVERY_END(LG_END_KILLED) | LG_DELIVERY_UNKNOWN_IN_LAUNCH)

/** State of a report. */
typedef enum lg_delivery_state {
    LG_DELIVERY_PENDING = 1, /**< to be sent, or to be sent again */
    LG_DELIVERY_SENT = 2,    /**< a positive answer came */
    /** the server refused it; tried again each day, and with another endpoint or credential file */
    LG_DELIVERY_HELD = 3,
    /** given up: the server refused its body on three days, the device was on for 90 days, or the
     *  report is damaged */
    LG_DELIVERY_DEAD = 4,
    LG_DELIVERY_TOLD = 5     /**< a positive answer came, and on_delivered was called for it */
} lg_delivery_state;

/** Why a pending report does not go now. */
typedef enum lg_delivery_pause {
    LG_PAUSE_NONE = 0,
    LG_PAUSE_PACED = 1,  /**< many with its fingerprint were made lately */
    LG_PAUSE_AWAY = 2,   /**< nothing reaches the server */
    LG_PAUSE_BUSY = 3,   /**< the server was reached, and gave no verdict */
    LG_PAUSE_ASKED = 4,  /**< the server asked for it */
    LG_PAUSE_SPENT = 5,  /**< the bytes of the day are spent */
    LG_PAUSE_BEHIND = 6, /**< another one with its fingerprint has left, and has no answer yet */
    LG_PAUSE_METERED = 7 /**< each byte costs: a file spool/metered lets only first parts go */
} lg_delivery_pause;

/** A report in the spool. */
typedef struct lg_delivery_info {
    char uuid[37];            /**< identity of the report: that of the run, but for a report of a
                                   living run, which has one of its own */
    char run_uuid[37];        /**< identity of the run */
    uint64_t ordinal;         /**< of the run */
    lg_delivery_state state;
    lg_end end;               /**< of the run; LG_END_RUNNING for a report of a living run */
    char fingerprint[33];     /**< the same for equal crashes; see lg_reader_fingerprint() */
    uint64_t made_ns;         /**< nanoseconds since 1970 */
    uint32_t attempts;        /**< requests made so far */
    int32_t http_status;      /**< of the last answer; 0: there was none */
    uint64_t attempted_ns;    /**< of the last attempt, nanoseconds since 1970; 0: none */
    uint64_t next_ns;         /**< earliest next attempt, or end of the server's pause, nanoseconds
                                   since 1970; 0: now */
    lg_delivery_pause pause;  /**< why a pending report waits until then */
    uint64_t settled_ns;      /**< sent or given up, nanoseconds since 1970; 0: it was not */
    uint64_t told_ns;         /**< on_delivered was called, nanoseconds since 1970; 0: it was not */
    /** runs with this fingerprint that got no report of their own, because there were too many;
     *  this report stands for them */
    uint64_t more;
    char error[160];          /**< why the last attempt failed, for a person; "": it did not */
} lg_delivery_info;

/** Called once for each report that was delivered, oldest run first, when a launch of this run is
 *  finished, by mark or by time; without any launch ten seconds after lg_delivery_start(). The call
 *  comes within a second, on a thread of LaunchGuard, which the program may block. For a report
 *  that is delivered later the call comes in the next run. A call that does not return, because the
 *  program crashes or ends in it, comes again in the next runs, at most three times in all.
 *
 *  @param report  borrowed during the call. */
typedef void (*lg_delivered_callback)(const lg_delivery_info *report, void *user);

/** Options of lg_delivery_start(). Zero means the default, everywhere. All strings are borrowed
 *  during the call. */
typedef struct lg_delivery_options {
    /** sizeof(lg_delivery_options); LG_DELIVERY_OPTIONS_INIT sets it. */
    uint32_t size;

    /** The server: LG_TARGET_*. Required. */
    lg_delivery_target target;

    /** Where reports go: an "https:" or "http:" address of at most LG_ENDPOINT_MAX bytes, without a
     *  user name and a password; for LG_TARGET_SENTRY the DSN. NULL only with a credential_file
     *  that holds it. */
    const char *endpoint;

    /** A file that only this user may read (mode 0600 or less). Each line is a header that goes
     *  with each request, for example "Authorization: Bearer …", or "endpoint: " with the address.
     *  The agent reads the file before each request. Absolute path; NULL = none. */
    const char *credential_file;

    /** The Ed25519 public key of the vendor: its 32 bytes as 64 hexadecimal digits, or in base64. A
     *  positive answer may then carry a hint that is signed with it: leave out a task, run a
     *  repair, safe mode, hold below a version (docs/DELIVERY.md). NULL: hints are ignored, and the
     *  one that is stored is withdrawn. Without effect where the agent was built without OpenSSL;
     *  spool/agent.log says so, and `launchguard doctor`. */
    const char *hint_key;

    /** Certificates (PEM) that the server's certificate is checked against. Absolute path; NULL =
     *  those of the system. */
    const char *ca_file;

    /** The ends that make a run a report: LG_DELIVERY_END(), LG_DELIVERY_UNKNOWN_IN_LAUNCH. 0 =
     *  LG_DELIVERY_ENDS. */
    uint32_t ends;

    /** LG_CONSENT_GIVEN and LG_CONSENT_WITHHELD are stored, as by lg_delivery_consent(). */
    lg_consent consent;

    /** Reports in the spool, whatever their state; 0 = 64, at most 4096. Beyond that, a report
     *  stands for the later ones with its fingerprint, which are counted. */
    uint32_t keep_reports;

    /** 1: only the first part of each report is sent, of at most 4 KiB. 0: also the second part,
     *  with all threads, breadcrumbs, annotations and modules. */
    uint32_t brief;

    /** Bytes of the reports in the spool; 0 = 16777216 (16 MiB), at least 65536. */
    uint64_t keep_bytes;

    /** Bytes of requests and answers in a day, without those of TLS. The request that reaches the
     *  limit is the last one of the day. 0 = 67108864 (64 MiB), at least 8192. */
    uint64_t daily_bytes;

    /** 1: paths are sent as they are, and so are the user's number, the boot's id and the name of
     *  the parent. 0: these three are not sent, and "~" stands for a home directory: /root, that of
     *  the agent's user, a name in /home, /var/home, /run/user, /media, /run/media or /mnt, and one
     *  in a folder "home" below the last three. */
    uint32_t keep_home;

    /** The agent's program. Absolute path; NULL = $LAUNCHGUARD_AGENT (not in a setuid program),
     *  else "launchguard-agent" in the directory of the executable, else where the library was
     *  installed, /usr/local/libexec/launchguard or /usr/libexec/launchguard. */
    const char *agent_path;

    /** NULL: nobody is called. */
    lg_delivered_callback on_delivered;
    /** Handed to on_delivered. */
    void *user;

    /** 1: LG_TARGET_HTTP and LG_TARGET_MINIDUMP get bodies in gzip (Content-Encoding), too. 0:
     *  only the servers of the other targets do, which have to take them. */
    uint32_t compress;

    /** 1: LG_TARGET_SENTRY gets once a day how many runs of each version ended well, in a crash, or
     *  in another bad way, for its release health. Runs without app_version are not counted. 0: it
     *  gets reports alone. */
    uint32_t release_health;
} lg_delivery_options;

/** Longest endpoint, in bytes without the NUL. */
#define LG_ENDPOINT_MAX 1023

#ifdef __cplusplus
#define LG_DELIVERY_OPTIONS_INIT lg_sized<lg_delivery_options>()
#else
#define LG_DELIVERY_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_delivery_options) }
#endif

/** Called about every 50 ms while lg_delivery_wait() waits, on the waiting thread. The callback may
 *  run a main loop, or show the user that the program waits.
 *
 *  @param left_ms  time that the wait has left. */
typedef void (*lg_delivery_pump)(uint32_t left_ms, void *user);

/** Result of lg_delivery_wait(). */
typedef enum lg_delivery_result {
    LG_DELIVERY_NOTHING = 1,     /**< there was nothing to send */
    LG_DELIVERY_DELIVERED = 2,   /**< all that was to be sent has had its answer */
    LG_DELIVERY_HANDED_OVER = 3, /**< the time has passed, and a living agent goes on */
    LG_DELIVERY_TIMEOUT = 4      /**< the time has passed, and no agent lives: reports stay owed */
} lg_delivery_result;

LG_BEGIN

/** Begin to deliver reports: store the configuration, and start the agent where none runs. The call
 *  writes only a configuration that has changed, which may take milliseconds.
 *
 *  The call returns before the agent runs, except where the last run counted as a launch crash, or
 *  the configuration is new, as at the very first start: then the agent has started. The program's
 *  wait() does not see the agent, which shares no descriptor with it. Process 1 of a namespace and
 *  a subreaper become its parent: it tries each report that is due once, and ends. An agent of
 *  another version ends after the request under way. Without consent no agent is started. The
 *  environment variable LAUNCHGUARD_NO_DELIVERY, also in a setuid program, or a file named "off" in
 *  the folder "spool" of the state directory, switches delivery off; the configuration and the
 *  consent are stored all the same.
 *
 *  An agent that has not begun after two seconds, as without one of its libraries, is in
 *  lg_session_message() and the ring log then.
 *
 *  @return LG_OK; LG_ERR_NO_AGENT: no agent's program was found, or the call started it and the
 *          system refuses, reports stay owed; LG_ERR_OPTION (lg_session_message() names the
 *          option); LG_ERR_ALREADY: the call was made before;
 *          LG_ERR_DISABLED: switched off; LG_ERR_SECONDARY: the primary delivers;
 *          LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT; LG_ERR_LINK,
 *          LG_ERR_OWNER, LG_ERR_PERMISSION, LG_ERR_READ_ONLY, LG_ERR_NO_SPACE, LG_ERR_LIMIT,
 *          LG_ERR_NOT_DIRECTORY, LG_ERR_NOT_FOUND, LG_ERR_SYSTEM (errno): the spool cannot be
 *          written; LG_ERR_TIMEOUT: as by lg_delivery_consent().
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: yes, and a thread that
 *  ends by itself.
 *  Durable: the configuration survives the process at once.
 */
LG_API lg_status lg_delivery_start(lg_session *session, const lg_delivery_options *options);

/** Store whether reports may leave the machine. When a call with LG_CONSENT_WITHHELD returns LG_OK,
 *  all reports that were not sent are deleted, no request is under way, and none comes. No run that
 *  ends before consent is given again is ever sent, nor is this one. Where nobody has withheld it
 *  before, consent also holds for the runs that have ended. Consent starts the agent where
 *  lg_delivery_start() was called before. A call that dies has stored the word, and the next one
 *  with the same word deletes what is left.
 *
 *  @param consent  LG_CONSENT_GIVEN or LG_CONSENT_WITHHELD.
 *  @return LG_OK; LG_ERR_OPTION; LG_ERR_SECONDARY; LG_ERR_UNPROTECTED; LG_ERR_CLOSED;
 *          LG_ERR_FORKED; LG_ERR_ARGUMENT; LG_ERR_LINK, LG_ERR_OWNER, LG_ERR_PERMISSION,
 *          LG_ERR_READ_ONLY, LG_ERR_NO_SPACE, LG_ERR_LIMIT, LG_ERR_NOT_DIRECTORY, LG_ERR_NOT_FOUND,
 *          LG_ERR_SYSTEM (errno): the spool cannot be written, or a report not be deleted;
 *          LG_ERR_TIMEOUT: the reports are deleted, but an agent did not react for two seconds, as
 *          it was stopped: it may finish the step or the request that it was in.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: yes.
 *  Durable: survives a power cut.
 */
LG_API lg_status lg_delivery_consent(lg_session *session, lg_consent consent);

/** Wait until the reports that are owed now were sent. The call does not wait for a report that is
 *  put off because many like it were sent lately. It is for a program whose agent cannot outlive
 *  it, as in a container, and for one that shows its user that a report is sent. In an on_report
 *  callback and before lg_launch_begin() alike, the time counts neither towards the window of a
 *  launch nor as a hang: the heartbeat of the calling thread pauses meanwhile, and goes on with the
 *  return.
 *
 *  Owed are the reports in the spool that are to be sent, the requests of
 *  lg_delivery_report_now(), and the last run where its end is in lg_delivery_options.ends and it
 *  has no report yet. Without consent nothing is owed. Where no agent lives and none can be
 *  started, the call returns LG_DELIVERY_TIMEOUT at once. No wait of the agent ends by this call.
 *
 *  @param ms      longest time; 0 = 2000 less the time since the process started. At most 5000. The
 *                 pump may make it longer.
 *  @param pump    NULL: the call only waits. It may call lg_stop(), which ends the wait.
 *  @return LG_OK; LG_ERR_STATE: lg_delivery_start() returned neither LG_OK nor LG_ERR_NO_AGENT
 *          before; LG_ERR_OPTION; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_delivery_wait(lg_session *session, uint32_t ms, lg_delivery_pump pump, void *user, lg_delivery_result *ret_result);

/** Ask for a report of this run now, while it lives: of a hang that goes on, or of anything else.
 *  The report has an identity of its own, so that a later report of the same run is another one.
 *
 *  @param reason    one line for a person, UTF-8; cut to 255 bytes at a whole character. A control
 *                   character becomes a blank. Copied.
 *  @param ret_uuid  NULL, or the identity of the report (37 bytes).
 *  @return LG_OK: the agent makes the report; LG_ERR_STATE: lg_delivery_start() returned neither
 *          LG_OK nor LG_ERR_NO_AGENT before, or there is no consent; LG_ERR_LIMIT: 16 requests wait
 *          already; LG_ERR_UNPROTECTED: also where the run has no file (LG_PROTECTION_LAUNCH);
 *          LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT; LG_ERR_LINK, LG_ERR_OWNER,
 *          LG_ERR_PERMISSION, LG_ERR_READ_ONLY, LG_ERR_NO_SPACE, LG_ERR_NOT_DIRECTORY,
 *          LG_ERR_NOT_FOUND, LG_ERR_SYSTEM (errno): the spool cannot be written.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: yes.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_delivery_report_now(lg_session *session, const char *reason, char *ret_uuid);

/** The reports in the spool of a state directory, oldest run first. A delivered report stays until
 *  its place is needed. What became of a run without a report says lg_run_info.reported. A file
 *  that cannot be read has the state LG_DELIVERY_DEAD and the name of the reader's status as its
 *  error ("damaged", "newer"); its other fields come from its file name. A working agent may move
 *  files meanwhile.
 *
 *  @param ret_entries  room for `room` reports; NULL with room 0.
 *  @param ret_count    how many there are, which may be more than `room`.
 *  @return LG_OK; LG_ERR_NOT_FOUND: there is no spool; LG_ERR_LINK; LG_ERR_PERMISSION;
 *          LG_ERR_NOT_DIRECTORY; LG_ERR_SYSTEM (errno); LG_ERR_UNSUPPORTED; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_delivery_entries(const char *state_directory, lg_delivery_info *ret_entries, uint32_t room, uint32_t *ret_count);

LG_END

#endif
