// The system calls that code of tenants may not make, by their numbers. Sources: the numbers of Linux 6.1 for x86_64 and
// arm64. Docker's default profile allows the others to a process without capabilities. Some of its versions
// also allow ptrace(2), process_vm_readv(2), io_uring and modify_ldt(2); we do not.

export type Architecture = 'x64' | 'arm64'

/** The last number of Linux 6.1. Later calls do not exist for tenants, so that libraries use the earlier ones. */
export const LAST_SYSCALL = 450

/** Numbers of x86_64 and arm64; undefined where an architecture has no such call. */
export const DENIED: Readonly<Record<string, readonly [x64: number, arm64?: number]>> = {
  // Other processes' memory and descriptors.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Namespaces, mounts, and what they show.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  // Parts of the kernel with a history of faults.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  modify_ldt: [154],
  lookup_dcookie: [212, 18],
  uselib: [134],
  nfsservctl: [180, 42],
  // The kernel itself, its clock, its names and its log.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174],
  query_module: [178],
  get_kernel_syms: [177],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  syslog: [103, 116],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  vhangup: [153, 58],
  iopl: [172],
  ioperm: [173],
  sysfs: [139],
  ustat: [136],
  _sysctl: [156],
  // Memory of other nodes.
  get_mempolicy: [239, 236],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  mbind: [237, 235],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  // Never built.
  getpmsg: [181],
  putpmsg: [182],
  afs_syscall: [183],
  tuxcall: [184],
  security: [185],
  vserver: [236],
}

/** Calls that depend on an argument. */
export const CONDITIONAL = {
  socket: { x64: 41, arm64: 198 },
  personality: { x64: 135, arm64: 92 },
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
} as const satisfies Record<string, Record<Architecture, number>>
