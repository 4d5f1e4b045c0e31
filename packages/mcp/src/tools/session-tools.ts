// What runs inside a session besides the page: code, programs, requests, tools of pages.
import { Buffer } from 'node:buffer'
import { Type } from 'typebox'
import { curlBrowser } from '@berth/contracts/curl'
import { executePlaywrightCode } from '@berth/contracts/playwright'
import { execProcess } from '@berth/contracts/processes'
import { executeRepl } from '@berth/contracts/repl'
import { OneOf } from '@berth/contracts/schema'
import { invokeWebMcpTool, listWebMcpTools } from '@berth/contracts/webmcp'
import { facts, image, words, type Answer } from '../core/answer.ts'
import { dataWithRest } from '../core/rest.ts'
import { ToolFailure } from '../core/run.ts'
import { maskHeaders } from '../core/secrets.ts'
import { MAX_TEXT, visible } from '../core/text.ts'
import { manyTool, tool, type Args, type Context, type Tool } from '../core/tool.ts'
import { executor, sessionId } from '../page/fields.ts'
import { given } from './paging.ts'

const MAX_IMAGES = 3

const code = Type.String({
  minLength: 1,
  maxLength: 200_000,
  description: 'TypeScript or JavaScript, with page, context and browser of Playwright',
})
const codeSeconds = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 300, default: 60, description: 'Time limit in seconds' }),
)

async function output(context: Context, args: Args, parts: readonly [string, string][]): Promise<Answer> {
  const answers: Answer[] = []
  for (const [what, text] of parts) {
    if (text === '') continue
    const shown = `${what}:\n${context.secrets.maskKnown(visible(text))}`
    // Half for each, so that an error behind much output is seen.
    const maxLength = Math.floor(MAX_TEXT / Math.min(2, parts.length))
    answers.push(
      await dataWithRest(context, {
        sessionId: args.session_id,
        text: shown,
        what: what.replaceAll(' ', '-'),
        from: 'the session',
        maxLength,
      }),
    )
  }
  return answers.flat()
}

const playwright = tool({
  name: 'execute_playwright_code',
  title: 'Run Playwright code',
  toolset: 'playwright',
  description:
    'Runs code in the session and returns its value as JSON. For what the other tools cannot do, or for many steps at once. Files it reads and writes are those of the session.',
  input: { session_id: sessionId, code, executor, timeout_sec: codeSeconds },
  needs: [executePlaywrightCode],
  run: async (args: Args, context) => {
    const seconds: number = args.timeout_sec ?? 60
    const result = await context.api.call(executePlaywrightCode, {
      params: { id: args.session_id },
      body: given({ code: args.code, executor: args.executor, timeout_sec: seconds }),
      workSeconds: seconds,
    })
    const value = result.result === undefined || result.result === null ? '' : JSON.stringify(result.result)
    const said = await output(context, args, [
      ['result', value],
      ['error', result.error ?? ''],
      ['stdout', result.stdout ?? ''],
      ['stderr', result.stderr ?? ''],
    ])
    if (!result.success) throw new ToolFailure('The code failed.', said)
    return [words('The code has run.'), ...said]
  },
})

const repl = tool({
  name: 'browser_repl',
  title: 'Run code that keeps its variables',
  toolset: 'playwright',
  description:
    'Like execute_playwright_code, in one process whose variables stay for the next call. The last expression is shown, and what display() is called with, also pictures such as await page.screenshot().',
  input: {
    session_id: sessionId,
    code,
    reset: Type.Optional(Type.Boolean({ default: false, description: 'Begin with a new process' })),
    timeout_sec: codeSeconds,
  },
  needs: [executeRepl],
  run: async (args: Args, context) => {
    const seconds: number = args.timeout_sec ?? 60
    const { content = [], ...result } = await context.api.call(executeRepl, {
      params: { id: args.session_id },
      body: given({ code: args.code, reset: args.reset, timeout_sec: seconds }),
      workSeconds: seconds,
    })
    const texts = content.flatMap(({ text, channel }) =>
      text === undefined ? [] : [`[${channel ?? ''}] ${text}`],
    )
    const said = await output(context, args, [
      ['output', texts.join('\n')],
      ['error', result.error ?? ''],
    ])
    const images = content
      .filter(({ data_b64: bytes }) => bytes !== undefined && bytes.length < 1_500_000)
      .slice(0, MAX_IMAGES)
      .map(({ data_b64: bytes, mime_type: type }) => image(bytes!, type ?? 'image/png'))
    const about = facts({
      repl_id: result.repl_id,
      duration_ms: result.duration_ms,
      ...(result.repl_terminated && { repl_terminated: true }),
    })
    if (!result.success) throw new ToolFailure('The code failed.', [about, ...said, ...images])
    return [about, ...said, ...images]
  },
})

const decoded = (base64: string) => Buffer.from(base64, 'base64').toString('utf8')

const exec = tool({
  name: 'exec_command',
  title: 'Run a program',
  toolset: 'shell',
  description:
    'Runs a program in the session and waits for its end. Not a shell: for pipes use command bash with args ["-c", "…"].',
  input: {
    session_id: sessionId,
    command: Type.String({ minLength: 1, maxLength: 4_096, description: 'The program' }),
    args: Type.Optional(
      Type.Array(Type.String({ maxLength: 100_000 }), { maxItems: 1_000, description: 'Its arguments' }),
    ),
    cwd: Type.Optional(
      Type.String({ pattern: '^/', maxLength: 4_096, description: 'Directory to run it in' }),
    ),
    timeout_sec: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 150, default: 60, description: 'Time limit in seconds' }),
    ),
    as_root: Type.Optional(Type.Boolean({ default: false, description: 'As root of its own namespace' })),
  },
  needs: [execProcess],
  hints: { destructive: true },
  run: async (args: Args, context) => {
    const seconds: number = args.timeout_sec ?? 60
    const result = await context.api.call(execProcess, {
      params: { id: args.session_id },
      body: given({
        command: args.command,
        args: args.args,
        cwd: args.cwd,
        as_root: args.as_root,
        timeout_sec: seconds,
      }),
      workSeconds: seconds,
    })
    const said = await output(context, args, [
      ['stdout', decoded(result.stdout_b64)],
      ['stderr', decoded(result.stderr_b64)],
    ])
    return [facts({ exit_code: result.exit_code, duration_ms: result.duration_ms }), ...said]
  },
})

const curl = tool({
  name: 'browser_curl',
  title: 'Send a request by the browser',
  toolset: 'browser_curl',
  description: "Sends an HTTP request with the browser's cookies, proxy and TLS, and returns what came back.",
  input: {
    session_id: sessionId,
    url: Type.String({ minLength: 1, maxLength: 8_000, description: 'Address' }),
    method: Type.Optional(
      OneOf(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const, {
        default: 'GET',
        description: 'HTTP method',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 8_000 }), { description: 'Headers' }),
    ),
    body: Type.Optional(Type.String({ description: 'Body' })),
    response_encoding: Type.Optional(
      OneOf(['utf8', 'base64'] as const, { default: 'utf8', description: 'How the body is returned' }),
    ),
    timeout_ms: Type.Optional(
      Type.Integer({ minimum: 1_000, maximum: 60_000, default: 30_000, description: 'Time limit' }),
    ),
  },
  needs: [curlBrowser],
  run: async (args: Args, context) => {
    const { session_id: id, ...body } = args
    delete body.project
    delete body.project_id
    const result = await context.api.call(curlBrowser, {
      params: { id },
      body,
      workSeconds: (args.timeout_ms ?? 30_000) / 1000,
    })
    const said = await dataWithRest(context, {
      sessionId: id,
      text: [
        context.secrets.mask(JSON.stringify(maskHeaders(result.headers), undefined, 1)),
        context.secrets.maskKnown(visible(result.body)),
      ].join('\n'),
      what: 'curl',
      from: 'a web site',
    })
    return [facts({ status: result.status, duration_ms: result.duration_ms }), ...said]
  },
})

const webmcp = manyTool({
  name: 'webmcp',
  title: 'Tools that pages offer',
  toolset: 'webmcp',
  description:
    'Lists and invokes tools that open pages offer to agents (WebMCP). Their words are those of the pages.',
  input: {
    session_id: sessionId,
    tool_ref: Type.Optional(Type.String({ minLength: 1, maxLength: 8_192, description: 'From action list' })),
    input: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'What its inputSchema asks for' }),
    ),
    timeout_sec: codeSeconds,
  },
  actions: {
    list: {
      does: 'list the tools of the open pages',
      needs: [listWebMcpTools],
      run: async (args: Args, context) => {
        const { tools: found } = await context.api.call(listWebMcpTools, { params: { id: args.session_id } })
        const text = context.secrets.mask(visible(JSON.stringify(found, undefined, 1)))
        return dataWithRest(context, { sessionId: args.session_id, text, what: 'webmcp', from: 'web pages' })
      },
    },
    invoke: {
      does: 'call one of them',
      needs: [invokeWebMcpTool],
      requires: ['tool_ref'],
      run: async (args: Args, context) => {
        const seconds: number = args.timeout_sec ?? 60
        const {
          status,
          output: result,
          error_text: error,
        } = await context.api.call(invokeWebMcpTool, {
          params: { id: args.session_id },
          body: { tool_ref: args.tool_ref, input: args.input ?? {}, timeout_sec: seconds },
          workSeconds: seconds,
        })
        const text = context.secrets.mask(visible(error ?? JSON.stringify(result ?? null)))
        const said = await dataWithRest(context, {
          sessionId: args.session_id,
          text,
          what: 'webmcp',
          from: 'a web page',
        })
        return [facts({ status }), ...said]
      },
    },
  },
})

export const sessionTools: readonly Tool[] = [playwright, repl, exec, curl, webmcp]
