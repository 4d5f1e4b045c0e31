// Sends load with wrk and reads its report.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { HttpRequest } from './http-client.ts'

const CONNECTIONS = 32

export interface LoadReport {
  readonly requests: number
  readonly durationUs: number
  readonly socketErrors: number
  /** Answers with a status of 400 or more. */
  readonly errorStatuses: number
  readonly p50Us: number
  readonly p95Us: number
}

/** Sends as many requests as one thread with 32 connections can, on the core of this process. */
export async function load(
  { url, method, headers = {}, body }: HttpRequest,
  { seconds, signal, paths = [] }: { seconds: number; signal: AbortSignal; paths?: readonly string[] },
): Promise<LoadReport> {
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', join(import.meta.dirname, 'wrk.lua')]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  const { stdout } = await promisify(execFile)('wrk', [...args, url], {
    signal,
    env: {
      PATH: process.env['PATH'],
      BENCH_METHOD: method,
      BENCH_PATHS: paths.join(' '),
      ...(body !== undefined && { BENCH_BODY: body }),
    },
  })
  const line = stdout.trimEnd().split('\n').at(-1)!
  return JSON.parse(line) as LoadReport
}
