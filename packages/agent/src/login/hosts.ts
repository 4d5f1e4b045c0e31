// Checks whether an origin belongs to the hosts where typing is allowed.

const ADDRESS = /^[\d.]+$|^\[/

/** A host is `a.example`, or `*.a.example` for its subdomains only. A port must match if it is given. */
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

/** Only for names, because IP addresses have no subdomains. */
function isBelow(hostname: string, suffix: string): boolean {
  return suffix.length > 1 && hostname.endsWith(suffix) && hostname !== suffix && !ADDRESS.test(hostname)
}

function split(host: string): { name: string; port: string | undefined } {
  const match = /^(?<name>\[[^\]]*\]|[^:]*)(?::(?<port>\d+))?$/.exec(host)
  return { name: match?.groups?.['name'] ?? '', port: match?.groups?.['port'] }
}
