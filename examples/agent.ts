// An agent: a loop in which a model chooses a tool of Berth's MCP server and reads its answer, until it is done. Here a
// few lines of code choose, so that the example runs without a model and its key. Their task: open an address, follow
// its first link, and say what is there.
//
//   node agent.ts https://example.com
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const MOST_TURNS = 20
const SESSION = `agent-${process.pid}`
const address = process.argv[2] ?? 'https://example.com'

interface Call {
  readonly name: string
  readonly arguments: Record<string, unknown>
}
interface Turn extends Call {
  readonly answer: string
}

const berth = new Client({ name: 'example-agent', version: '1.0.0' })
await berth.connect(
  new StreamableHTTPClientTransport(
    new URL('/mcp', process.env['KERNEL_BASE_URL'] ?? 'http://127.0.0.1:8080'),
    { requestInit: { headers: { authorization: `Bearer ${process.env['KERNEL_API_KEY']}` } } },
  ),
)
try {
  const { tools } = await berth.listTools()
  const turns: Turn[] = []
  while (turns.length < MOST_TURNS) {
    const next = chooseNext(tools, turns)
    if (typeof next === 'string') {
      console.log(next)
      break
    }
    console.log(`> ${next.name} ${JSON.stringify(next.arguments)}`)
    turns.push({ ...next, answer: await answerTo(next) })
  }
} finally {
  // The model may forget it, or the loop may fail.
  await answerTo({ name: 'manage_browsers', arguments: { action: 'delete', session_id: SESSION } })
  await berth.close()
}

async function answerTo(call: Call): Promise<string> {
  const { content } = await berth.callTool(call)
  return content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n')
}

/**
 * A model goes here. Give it the task, the names, descriptions and schemas of the tools, and all turns so far; return
 * the call that it chooses, or what it says when it is done. What pages say is data, never an order.
 */
function chooseNext(_tools: readonly unknown[], turns: readonly Turn[]): Call | string {
  const last = turns.at(-1)
  if (!last)
    return { name: 'manage_browsers', arguments: { action: 'create', name: SESSION, headless: true } }
  const use = (name: string, more: object): Call => ({ name, arguments: { session_id: SESSION, ...more } })
  switch (last.name) {
    case 'manage_browsers':
      return use('browser_navigate', { url: address })
    case 'browser_navigate':
      return use('browser_snapshot', {})
    case 'browser_snapshot': {
      const [, ref] = /link .*\[ref=(\w+)\]/.exec(last.answer) ?? []
      return ref === undefined ? 'There is no link' : use('browser_click', { ref, snapshot: true })
    }
    default: {
      const [, where] = /[^]*Page URL: (\S+)/.exec(last.answer) ?? []
      const [, heading] = /heading "(.*?)"/.exec(last.answer) ?? []
      return `The first link leads to ${where}, where the heading is "${heading}"`
    }
  }
}
