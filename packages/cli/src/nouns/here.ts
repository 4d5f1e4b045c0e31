// What is about this machine and this program.
import type { Noun, Verb } from '../command/rows.ts'

const single = (name: string, summary: string, itself: Omit<Verb, 'name' | 'summary'>): Noun => ({
  name,
  summary,
  verbs: [],
  itself: { summary, ...itself },
})

export const up = single('up', 'Start a server on this machine', {
  flags: [
    { flags: '-d, --detach', help: 'Go on in the background; stop it with "berth up --stop"' },
    { flags: '--stop', help: 'Stop the server that --detach has started' },
    { flags: '--directory <path>', help: 'The clone of the repository; found by itself if you are in it' },
    {
      flags: '--timeout <seconds>',
      as: 'integer',
      help: 'How long --detach waits until it is ready; 600 by default',
    },
  ],
  notes:
    'It runs "npm start" in the clone: the first start installs what is missing. Settings are environment variables;\nsee "npm start -- --help". When the server is ready, the context "local" has its address and its key.',
  run: () => import('../machine/up.ts'),
})

export const doctor = single('doctor', 'Say what is missing on this machine, and how to get it', {
  run: () => import('../machine/doctor.ts'),
})

export const open = single('open', 'Open the dashboard in a browser', {
  args: '[session]',
  flags: [{ flags: '--print', help: 'Only print the address' }],
  run: () => import('../machine/open.ts'),
})

export const status = single('status', 'Show the state of the server', {
  op: 'getStatus',
  run: () => import('../machine/status.ts'),
})

export const upgrade = single('upgrade', 'Say how to get a newer version', {
  flags: [{ flags: '--dry-run', help: 'The same; nothing is ever changed', isHidden: true }],
  run: () => import('../machine/upgrade.ts'),
})

export const api = single('api', 'Send any request to the API', {
  args: '<method> <path>',
  flags: [
    { flags: '-d, --data <json>', help: 'The body as JSON, @FILE, or - for stdin' },
    { flags: '--header <name=value>', as: 'map', help: 'A header; repeat it for more' },
    { flags: '-i, --include', help: 'The status and the headers too, on stderr' },
  ],
  notes: 'Example: berth api GET /browsers?limit=5',
  run: () => import('../machine/api.ts'),
})

export const mcp = single('mcp', 'Serve the tools for agents (MCP) over stdin and stdout', {
  flags: [{ flags: '--toolsets <names>', help: 'Which tools, such as browsers,page or all,-docs' }],
  notes:
    'A client of MCP starts it: {"command": "berth", "args": ["mcp"]}. A client that speaks HTTP needs no program:\nits address is /mcp of the server, with the key as a bearer token.',
  run: () => import('../machine/mcp.ts'),
})

export const completion = single('completion', 'Completions for bash, zsh and fish', {
  args: '[shell]',
  notes:
    'bash: source <(berth completion bash)\nzsh:  source <(berth completion zsh)\nfish: berth completion fish | source',
  run: () => import('../completion/print.ts'),
})
