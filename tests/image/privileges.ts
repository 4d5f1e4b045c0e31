/** All capabilities that a container with sessions needs; docs/install.md says for what. */
export const PRIVILEGES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'KILL',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_ADMIN',
  'SYS_PTRACE',
  'NET_ADMIN',
  'SYS_NICE',
]
