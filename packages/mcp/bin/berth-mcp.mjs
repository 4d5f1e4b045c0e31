#!/usr/bin/env node
// MCP over standard input and output. KERNEL_BASE_URL and KERNEL_API_KEY say which server, and with which key, as for the
// published client.
import { parseArgs } from 'node:util'
import { runStdio } from '../src/stdio.ts'

const USAGE = 'berth-mcp [--project <id or name>] [--toolsets browsers,page,…]'
const say = (text) => process.stderr.write(`berth-mcp: ${text}\n`)

function optionsOf(args) {
  try {
    return parseArgs({ args, options: { project: { type: 'string' }, toolsets: { type: 'string' } } }).values
  } catch (error) {
    say(`${error.message}; use ${USAGE}`)
    return process.exit(2)
  }
}

const { project, toolsets } = optionsOf(process.argv.slice(2))
const { KERNEL_BASE_URL: baseUrl, KERNEL_API_KEY: apiKey } = process.env
if (!baseUrl || !apiKey) {
  say('set KERNEL_BASE_URL, such as http://127.0.0.1:8080, and KERNEL_API_KEY')
  process.exit(2)
}
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort())
try {
  await runStdio({
    baseUrl,
    apiKey,
    ...(project && { project }),
    ...(toolsets && { toolsets }),
    signal: ending.signal,
    onFault: (error) => say(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  })
  process.exit(0)
} catch (error) {
  say(`cannot start: ${error.message}`)
  process.exit(1)
}
