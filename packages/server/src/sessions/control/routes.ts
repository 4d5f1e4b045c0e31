import * as computer from '@berth/contracts/computer'
import * as curl from '@berth/contracts/curl'
import { loadExtensions } from '@berth/contracts/extensions'
import * as files from '@berth/contracts/files'
import * as logs from '@berth/contracts/logs'
import { isOperation, type Operation } from '@berth/contracts/operation'
import * as playwright from '@berth/contracts/playwright'
import * as processes from '@berth/contracts/processes'
import * as repl from '@berth/contracts/repl'
import * as webMcp from '@berth/contracts/webmcp'
import type { Route } from '../../http/call.ts'
import type { Controls } from './controls.ts'

const operations: readonly Operation[] = [
  computer,
  files,
  processes,
  logs,
  playwright,
  repl,
  webMcp,
  curl,
  { loadExtensions },
]
  .flatMap((module) => Object.values(module) as unknown[])
  .filter(isOperation)

export function controlRoutes(controls: Controls): Route[] {
  return operations.map((operation) => controls.route(operation))
}
