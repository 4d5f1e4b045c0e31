// The agent's settings, from its arguments and environment; no other file reads `process.env`. The server
// writes them, so they are not validated here. Requests over the link are validated in link/api.ts.
import { instancePaths, instancePorts, LINK_DESCRIPTOR, type AgentStart } from '@berth/contracts/link'

/** For tests, which run the agent outside an instance. */
export interface Overrides {
  readonly linkSocket?: string
  readonly egressSocket?: string
  readonly home?: string
  readonly profile?: string
  readonly temporary?: string
  readonly policies?: string
  readonly display?: number
  readonly playwrightRunner?: string
  readonly ports?: { readonly devtools: number; readonly proxy: number }
}

export interface Settings {
  readonly start: AgentStart
  /** The agent's own environment; programs of the instance inherit it. */
  readonly environment: Readonly<Record<string, string>>
  /** Holds uploads until their destination is known. */
  readonly spool: string
  /** Where the agent listens: the path or the descriptor of a socket. */
  readonly link: string | number
  readonly egressSocket: string
  readonly home: string
  readonly profile: string
  /** Where Chromium looks for its policies. */
  readonly policies: string
  readonly extensions: string
  /** For the agent's own sockets, which end with the instance. */
  readonly temporary: string
  readonly playwrightRunner: string
  /** Number of the X display. */
  readonly display: number
  readonly ports: { readonly devtools: number; readonly proxy: number }
}

export function readSettings(argv: readonly string[]): Settings {
  const [startText, overridesText = '{}'] = argv.slice(2)
  if (startText === undefined) throw new Error('Cannot start the agent: its argument is missing')
  const start = JSON.parse(startText) as AgentStart
  const overrides = JSON.parse(overridesText) as Overrides
  // SAFETY: process.env has no undefined values; its type allows them only for assignment.
  const environment = { ...process.env } as Record<string, string>
  return {
    start,
    environment,
    spool: environment['HOME'] ?? '/tmp',
    link: overrides.linkSocket ?? LINK_DESCRIPTOR,
    egressSocket: overrides.egressSocket ?? instancePaths.egress,
    home: overrides.home ?? instancePaths.home,
    profile: overrides.profile ?? (overrides.home ? `${overrides.home}/user-data` : instancePaths.profile),
    policies: overrides.policies ?? (overrides.home ? `${overrides.home}/policies` : instancePaths.policies),
    extensions: overrides.home ? `${overrides.home}/extensions` : instancePaths.extensions,
    temporary: overrides.temporary ?? '/tmp',
    playwrightRunner: overrides.playwrightRunner ?? instancePaths.playwrightRunner,
    display: overrides.display ?? 1,
    ports: overrides.ports ?? instancePorts,
  }
}
