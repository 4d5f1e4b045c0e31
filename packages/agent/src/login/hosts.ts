// Whether an origin, as the browser knows it, is one of the hosts that something may be typed at.

const ADDRESS = /^[\d.]+$|^\[/

/** `a.example`, `*.a.example` for all below it and not itself; with a port only where that is given. */
export function isOfHosts(origin: string, hosts: readonly string[]): boolean {
  const { protocol, hostname = '', port } = URL.parse(origin) ?? {}
  if (hostname === '' || (protocol !== 'http:' && protocol !== 'https:')) return false
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return hosts.some((host) => {
    const { name, port: wantedPort } = split(host.toLowerCase())
    if (wantedPort !== undefined && wantedPort !== ownPort) return false
    return name.startsWith('*.') ? isBelow(hostname, name.slice(1)) : hostname === name
  })
}

/** Of names only: the parts of a number are no domains. */
function isBelow(hostname: string, suffix: string): boolean {
  return suffix.length > 1 && hostname.endsWith(suffix) && hostname !== suffix && !ADDRESS.test(hostname)
}

function split(host: string): { name: string; port: string | undefined } {
  const match = /^(?<name>\[[^\]]*\]|[^:]*)(?::(?<port>\d+))?$/.exec(host)
  return { name: match?.groups?.['name'] ?? '', port: match?.groups?.['port'] }
}
