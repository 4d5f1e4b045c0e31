import assert from 'node:assert/strict'
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { RawJson } from '../../http/raw-json.ts'
import { AnswerBudget } from '../../instances/agent/answer-budget.ts'
import { AgentError } from '../../instances/agent/errors.ts'
import { readJsonAnswer } from './json-answer.ts'

const MB = 1024 * 1024
const signal = new AbortController().signal
const budget = new AnswerBudget({ freeBytes: MB, maxBytesPerAgent: MB, maxSharedBytes: MB })

async function answerOf(listener: RequestListener): Promise<IncomingMessage> {
  const [ours, theirs] = duplexPair()
  createServer(listener).emit('connection', theirs)
  return new Promise((resolve) => {
    request({ createConnection: () => ours })
      .once('response', resolve)
      .on('error', () => {})
      .end()
  })
}

async function read(listener: RequestListener, maxWaitMs = 30_000): Promise<unknown> {
  using share = budget.shareOf({})
  return await readJsonAnswer(await answerOf(listener), { path: '/x', share, signal, maxWaitMs })
}

async function textOf(result: unknown): Promise<string> {
  assert.ok(result instanceof RawJson)
  return text(result.body)
}

test('a small answer is parsed, and a large one passes as it is', async () => {
  assert.deepEqual(await read((_, response) => response.end('{"ok":true}')), { ok: true })
  await assert.rejects(
    read((_, response) => response.end('{"ok"')),
    SyntaxError,
  )
  const large = JSON.stringify({ list: Array.from({ length: 50_000 }, (_, index) => [index, `"${index}`]) })
  assert.equal(await textOf(await read((_, response) => response.end(large))), large)
})

test('a large answer that is not JSON, or has no end, is broken off', async () => {
  const filler = 'x'.repeat(100_000)
  for (const wrong of [`{"a":"${filler}`, `{"a":"${filler}"} more`, `"${filler}"`]) {
    await assert.rejects(
      async () => textOf(await read((_, response) => response.end(wrong))),
      wrong.slice(-20),
    )
  }
  const endless: RequestListener = (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(filler));
      if (!response.destroyed) response.once('drain', more)
    }
    response.write('{"a":"')
    more()
  }
  await assert.rejects(async () => textOf(await read(endless)), /more than 33554432 bytes/)
})

test('an answer whose rest does not come in time breaks off, small or large', async () => {
  const small = read((_, response) => void response.write('{"a":'), 20)
  await assert.rejects(small, (error) => error instanceof AgentError && /in time/.test(error.message))
  const large = await read((_, response) => void response.write(`{"a":"${'x'.repeat(100_000)}`), 20)
  await assert.rejects(textOf(large), /in time/)
})

const long: RequestListener = (_, response) => void response.write(`{"a":"${'x'.repeat(100_000)}`)

test('an agent that holds its whole share gets no more large answers', async () => {
  const agent = {}
  const shares = Array.from({ length: 5 }, () => budget.shareOf(agent))
  const results: unknown[] = []
  for (const share of shares.slice(0, 4)) {
    results.push(await readJsonAnswer(await answerOf(long), { path: '/x', share, signal }))
  }
  const fifth = readJsonAnswer(await answerOf(long), { path: '/x', share: shares[4]!, signal })
  await assert.rejects(fifth, /more than 1048576 bytes together/)
  for (const share of shares) share[Symbol.dispose]()
  for (const result of results) (result as RawJson).body.destroy()
})
