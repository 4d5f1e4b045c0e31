// The rules for packets in an instance's network, as iptables-restore reads them. Everything is local there, so nothing
// leaves it. The first packet of a connection to anywhere waits in a queue for the agent, which asks egress. What is
// accepted goes to the server's socket; what is marked gets the answer that the target's machine or router would give.
import { connectionQueue, instancePorts } from '@berth/contracts/link'
import { APP_UID_INSIDE, INSIDE_UID } from './ids-inside.ts'

const BEGINS = '-p tcp --syn -m mark --mark 0'
/** Chromium, and so every page: no other program has this uid and this gid. */
const PAGES = `-m owner --uid-owner ${INSIDE_UID} --gid-owner ${APP_UID_INSIDE}`
const QUEUE = `-j NFQUEUE --queue-num ${connectionQueue.number}`
const TO_SERVER = `-j REDIRECT --to-ports ${instancePorts.arrivals}`

const families = {
  ipv4: { loopback: '127.0.0.0/8', unreachable: 'icmp-host-unreachable', noPort: 'icmp-port-unreachable' },
  ipv6: { loopback: '::1/128', unreachable: 'icmp6-addr-unreachable', noPort: 'icmp6-port-unreachable' },
} as const

export interface NetworkRulesOptions {
  readonly family: keyof typeof families
  /** Loopback addresses in pages mean the host's, and egress decides about them too. */
  readonly hostLoopback: boolean
}

export function networkRules({ family, hostLoopback }: NetworkRulesOptions): string {
  const { loopback, unreachable, noPort } = families[family]
  const here = `-d ${loopback}`
  const elsewhere = `! -d ${loopback}`
  const protectedPorts = [instancePorts.devtools, instancePorts.proxy, instancePorts.arrivals]
  const hidden = protectedPorts.map((port) => {
    return `-A OUTPUT ${here} ${BEGINS} --dport ${port} ${PAGES} -j MARK --set-mark ${connectionQueue.refuse}`
  })
  // The kernel keeps a record of every connection that it may lead elsewhere, and no limit of the instance counts its
  // memory. So it keeps none of what stays as it is.
  const toItself = `-A OUTPUT ${here} -p tcp ! --sport ${instancePorts.arrivals} -j CT --notrack`
  const tables = {
    raw: ['-A OUTPUT -p udp -j CT --notrack', ...(hostLoopback ? [] : [toItself])],
    mangle: [
      ...(hostLoopback ? [`-A OUTPUT ${here} ${BEGINS} ${PAGES} ${QUEUE}`] : hidden),
      `-A OUTPUT ${elsewhere} ${BEGINS} ${QUEUE}`,
    ],
    nat: [
      ...(hostLoopback ? [`-A OUTPUT ${here} ${BEGINS} ${PAGES} ${TO_SERVER}`] : []),
      `-A OUTPUT ${elsewhere} ${BEGINS} ${TO_SERVER}`,
    ],
    filter: [
      `-A OUTPUT -p tcp -m mark --mark ${connectionQueue.refuse} -j REJECT --reject-with tcp-reset`,
      `-A OUTPUT -p tcp -m mark --mark ${connectionQueue.unreachable} -j REJECT --reject-with ${unreachable}`,
      `-A OUTPUT ${elsewhere} -p udp -j REJECT --reject-with ${noPort}`,
    ],
  }
  return Object.entries(tables)
    .map(([table, rules]) => [`*${table}`, ':OUTPUT ACCEPT [0:0]', ...rules, 'COMMIT', ''].join('\n'))
    .join('')
}
