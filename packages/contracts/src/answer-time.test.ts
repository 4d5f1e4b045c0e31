import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MARGIN_MS, maxAnswerMs } from './answer-time.ts'
import { curlBrowser, curlRawGet } from './curl.ts'
import { readFile } from './files.ts'
import { executePlaywrightCode } from './playwright.ts'
import { execProcess } from './processes.ts'

const beyondMargin = (...args: Parameters<typeof maxAnswerMs>) => maxAnswerMs(...args) - MARGIN_MS

test('an answer may take as long as the request allows its work', () => {
  assert.equal(beyondMargin(executePlaywrightCode, { body: { code: 'x', timeout_sec: 7 } }), 7_000)
  assert.equal(beyondMargin(curlBrowser, { body: { url: 'http://a.test/', timeout_ms: 2500 } }), 2_500)
  assert.equal(beyondMargin(curlRawGet, { query: { url: 'http://a.test/', timeout_ms: 1500 } }), 1_500)
})

test('without a limit in the request, the default of the contract applies', () => {
  assert.equal(beyondMargin(executePlaywrightCode, { body: { code: 'x' } }), 60_000)
  assert.equal(beyondMargin(curlBrowser, { body: { url: 'http://a.test/' } }), 30_000)
})

test('a program without a limit may run as long as the longest session', () => {
  for (const timeout_sec of [undefined, null, 0]) {
    assert.equal(beyondMargin(execProcess, { body: { command: 'true', timeout_sec } }), 72 * 3600 * 1000)
  }
})

test('work without a time limit has the margin only', () => {
  assert.equal(beyondMargin(readFile, { query: { path: '/tmp/a' } }), 0)
})
