// System call numbers per architecture that the filter in seccomp.ts refuses, or judges by their arguments. Null means
// that this architecture does not have the call.
export type Architecture = 'x64' | 'arm64'

type Numbers = Readonly<Record<Architecture, number | null>>

const everywhere = (number: number): Numbers => ({ x64: number, arm64: number })

/**
 * Refused with EPERM: each exposes the host's kernel, and no browser or tool needs it. Other calls that are not in
 * allowed-syscalls.ts do not exist.
 */
export const forbidden: Readonly<Record<string, Numbers>> = {
  // Mounts could reveal what the sandbox hides.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  open_tree: everywhere(428),
  move_mount: everywhere(429),
  fsopen: everywhere(430),
  fsconfig: everywhere(431),
  fsmount: everywhere(432),
  fspick: everywhere(433),
  mount_setattr: everywhere(442),
  open_tree_attr: everywhere(467),
  // Other namespaces, other processes, files by handle instead of by path.
  setns: { x64: 308, arm64: 268 },
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  pidfd_getfd: everywhere(438),
  open_by_handle_at: { x64: 304, arm64: 265 },
  fanotify_init: { x64: 300, arm64: 262 },
  // Large parts of the kernel with a long history of vulnerabilities.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  io_uring_setup: everywhere(425),
  io_uring_enter: everywhere(426),
  io_uring_register: everywhere(427),
  // Namespaces do not fully separate keyrings.
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  memfd_secret: everywhere(447),
  // Administration of the host.
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  create_module: { x64: 174, arm64: null },
  init_module: { x64: 175, arm64: 105 },
  delete_module: { x64: 176, arm64: 106 },
  finit_module: { x64: 313, arm64: 273 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: everywhere(443),
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  reboot: { x64: 169, arm64: 142 },
  acct: { x64: 163, arm64: 89 },
  syslog: { x64: 103, arm64: 116 },
  nfsservctl: { x64: 180, arm64: 42 },
  iopl: { x64: 172, arm64: null },
  ioperm: { x64: 173, arm64: null },
  modify_ldt: { x64: 154, arm64: null },
  adjtimex: { x64: 159, arm64: 171 },
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  clock_adjtime: { x64: 305, arm64: 266 },
}

/**
 * Refused as if the kernel were older: a filter cannot inspect clone3's arguments, which are in
 * memory. Libraries fall back to clone.
 */
export const unknown: Readonly<Record<string, Numbers>> = {
  clone3: everywhere(435),
}

/** Refused or allowed depending on their arguments. */
export const inspected = {
  socket: { x64: 41, arm64: 198 },
  ioctl: { x64: 16, arm64: 29 },
  clone: { x64: 56, arm64: 220 },
  unshare: { x64: 272, arm64: 97 },
} as const
