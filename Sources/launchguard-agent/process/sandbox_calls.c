#include "process/sandbox_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif
#define X32_BIT 0x40000000u
#define NEW_NAMESPACES                                                                                                                      \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static const uint32_t refused[] = {
    /* programs, and the memory of other processes */
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_personality,
    424 /* pidfd_send_signal */, 438 /* pidfd_getfd */, 440 /* process_madvise */, 448 /* process_mrelease */,
    /* rights and names that Landlock knows nothing of, or not yet */
    SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr, 463 /* setxattrat */, 466 /* removexattrat */, 469 /* file_setattr */, SYS_truncate, SYS_mknodat,
    SYS_symlinkat, SYS_open_by_handle_at,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_mknod, SYS_symlink,
#endif
    /* namespaces and mounts */
    SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_swapon, SYS_swapoff, SYS_quotactl,
    428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */, 443 /* quotactl_fd */, 467 /* open_tree_attr */,
    /* the kernel and the machine */
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_acct, SYS_syslog, SYS_sethostname,
    SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef __x86_64__
    SYS_ioperm, SYS_iopl, SYS_modify_ldt,
#endif
    /* where faults of kernels were found most, and the agent has no use */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_vmsplice,
    SYS_fanotify_init, 425 /* io_uring_setup */, 426 /* io_uring_enter */, 427 /* io_uring_register */,
    /* other programs' connections */
    SYS_listen, SYS_accept, SYS_accept4,
};

static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))
#define RULES_MAX (2 * (COUNT(refused) + COUNT(families)) + 32)

struct program {
    struct sock_filter rules[RULES_MAX];
    unsigned short count;
};

static void add(struct program *program, struct sock_filter rule)
{
    program->rules[program->count++] = rule;
}

/* The next rule is for a value that is equal. */
static void where_equal(struct program *program, uint32_t value, uint8_t skipped)
{
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}

static void refuse_where_equal(struct program *program, uint32_t value, uint32_t error)
{
    where_equal(program, value, 1);
    add(program, (struct sock_filter)REFUSE(error));
}

static void make(struct program *program, bool sends)
{
    program->count = 0;
    /* Calls by the numbers of another machine mean something else. */
    add(program, (struct sock_filter)LOAD(arch));
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
    add(program, (struct sock_filter)REFUSE(EPERM));
    add(program, (struct sock_filter)LOAD(nr));
#ifdef __x86_64__
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
    add(program, (struct sock_filter)REFUSE(EPERM));
#endif
    for (size_t i = 0; i < COUNT(refused); i++)
        refuse_where_equal(program, refused[i], EPERM);
    /* The flags of clone3() lie in memory, which a filter cannot see; libc uses clone() instead. */
    refuse_where_equal(program, 435 /* clone3 */, ENOSYS);
    where_equal(program, SYS_clone, 4);
    add(program, (struct sock_filter)LOAD(args[0])); /* the lower half, on both machines */
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1));
    add(program, (struct sock_filter)REFUSE(EPERM));
    add(program, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    const size_t allowed = sends ? COUNT(families) : 0;
    where_equal(program, SYS_socket, (uint8_t)(2 * allowed + 2));
    add(program, (struct sock_filter)LOAD(args[0]));
    for (size_t i = 0; i < allowed; i++) {
        where_equal(program, families[i], 1);
        add(program, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    }
    add(program, (struct sock_filter)REFUSE(EAFNOSUPPORT));
    add(program, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

bool sandbox_calls_refuse(bool sends)
{
    struct program program;
    make(&program, sends);
    const struct sock_fprog filter = { program.count, program.rules };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}
