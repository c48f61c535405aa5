// The system calls that code of tenants may make: those that Docker's default profile gives to a process without capabilities,
// but ptrace(2), process_vm_readv(2), process_vm_writev(2) and modify_ldt(2). One table for all filters.
import { syscallNumbers, type Architecture } from './numbers.ts'

const NAMES = {
  files: `
    read write open openat openat2 creat close close_range lseek pread64 pwrite64 readv writev preadv pwritev preadv2
    pwritev2 sendfile splice tee vmsplice copy_file_range readahead fadvise64 fallocate truncate ftruncate sync syncfs fsync
    fdatasync sync_file_range flock fcntl ioctl dup dup2 dup3 pipe pipe2 memfd_create memfd_secret name_to_handle_at
    io_setup io_destroy io_getevents io_pgetevents io_submit io_cancel`,
  folders: `
    stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 getdents getdents64 getcwd chdir fchdir
    mkdir mkdirat rmdir rename renameat renameat2 link linkat unlink unlinkat symlink symlinkat readlink readlinkat mknod
    mknodat chmod fchmod fchmodat chown fchown lchown fchownat umask utime utimes utimensat futimesat setxattr lsetxattr
    fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr
    inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_mark`,
  waits: `
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_wait epoll_wait_old epoll_pwait
    epoll_pwait2 eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime pause nanosleep
    clock_nanosleep futex futex_waitv set_robust_list get_robust_list membarrier rseq restart_syscall`,
  memory: `
    mmap mprotect munmap mremap msync mincore madvise brk mlock mlock2 mlockall munlock munlockall remap_file_pages
    pkey_alloc pkey_free pkey_mprotect shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr`,
  processes: `
    fork vfork execve execveat exit exit_group wait4 waitid getpid getppid gettid set_tid_address getpgid setpgid getpgrp
    getsid setsid pidfd_open pidfd_send_signal process_mrelease kill tkill tgkill arch_prctl prctl set_thread_area
    get_thread_area seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend
    sigaltstack`,
  users: `
    getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid setresgid setfsuid
    setfsgid setgroups capget capset`,
  shares: `
    sched_yield sched_setparam sched_getparam sched_setscheduler sched_getscheduler sched_setattr sched_getattr
    sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_setaffinity sched_getaffinity getpriority
    setpriority ioprio_get ioprio_set getrlimit setrlimit prlimit64 getrusage getcpu times sysinfo uname getrandom`,
  time: `
    time gettimeofday clock_gettime clock_getres clock_adjtime adjtimex alarm getitimer setitimer timer_create timer_settime
    timer_gettime timer_getoverrun timer_delete`,
  sockets: `
    socketpair connect accept accept4 bind listen shutdown sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg getsockname
    getpeername setsockopt getsockopt`,
}

/** No such call exists: it has no arguments that a filter can read, and libraries use clone(2) then. */
const ABSENT = new Set(['clone3'])

export const EPERM = 1
export const ENOSYS = 38
const EAFNOSUPPORT = 97

/** A call that may be made where its first argument, masked, is one of the values, and fails with the error where not. */
export type SyscallCondition = {
  readonly mask: number
  readonly values: readonly number[]
  readonly errno: number
  /** Where the first argument is this value, another argument must have the value that is named. */
  readonly further?: { readonly value: number; readonly argument: number; readonly is: number }
}

export const WHOLE = 0xffffffff

export const CONDITIONAL: Readonly<Record<string, SyscallCondition>> = {
  // No flag that makes a namespace.
  clone: { mask: 0x7e020000, values: [0], errno: EPERM },
  // Unix sockets, IPv4, IPv6, and of netlink the routes alone: by another protocol the kernel tells of all devices.
  socket: {
    mask: WHOLE,
    values: [1, 2, 10],
    errno: EAFNOSUPPORT,
    further: { value: 16, argument: 2, is: 0 },
  },
  // PER_LINUX, PER_LINUX32, both without randomised addresses, and the value that asks for the present one.
  personality: { mask: WHOLE, values: [0, 0x8, 0x20000, 0x20008, WHOLE], errno: EPERM },
}

const ALLOWED: ReadonlySet<string> = new Set(Object.values(NAMES).join(' ').trim().split(/\s+/))

export type SyscallRule = 'allowed' | 'denied' | 'absent' | 'conditional'

export function ruleOf(name: string): SyscallRule {
  if (ALLOWED.has(name)) return 'allowed'
  if (CONDITIONAL[name] !== undefined) return 'conditional'
  return ABSENT.has(name) ? 'absent' : 'denied'
}

/** The names of an architecture's calls under a rule. */
export const syscallsOf = (architecture: Architecture, rule: SyscallRule): readonly string[] =>
  [...syscallNumbers(architecture).keys()].filter((name) => ruleOf(name) === rule)
