// Prints where the CPU time of a profile went, as shares of the time that was not idle: by our nearest function on
// the stack, by area (a package, a file, a module of Node), and by function.
import { readFileSync } from 'node:fs'

interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: number[] }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const SHOWN = 30

class Shares {
  readonly #us = new Map<string, number>()
  #totalUs = 0

  add(name: string, us: number): void {
    this.#us.set(name, (this.#us.get(name) ?? 0) + us)
    this.#totalUs += us
  }

  top(): string[] {
    return [...this.#us]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, SHOWN)
      .map(([name, us]) => `  ${((us / this.#totalUs) * 100).toFixed(1).padStart(5)} %  ${name}`)
  }
}

/** The server starts during the first `skipMs`; they are left out. */
export function summarise(file: string, { skipMs }: { skipMs: number }): string {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]))
  const parents = new Map(
    profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)),
  )
  const behalf = new Shares()
  const areas = new Shares()
  const functions = new Shares()
  let elapsedUs = 0
  profile.samples.forEach((id, index) => {
    const us = profile.timeDeltas[index]!
    elapsedUs += us
    const frame = frames.get(id)!
    if (frame.functionName === '(idle)' || elapsedUs < skipMs * 1000) return
    const stack = stackOf(id, parents).map((nodeId) => frames.get(nodeId)!)
    behalf.add(describe(stack.find(isOurs) ?? stack.find((caller) => caller.url !== '') ?? frame), us)
    areas.add(areaOf(frame), us)
    functions.add(describe(frame), us)
  })
  return [
    `CPU time of ${file}`,
    'On behalf of',
    ...behalf.top(),
    'By area',
    ...areas.top(),
    'By function',
    ...functions.top(),
  ].join('\n')
}

function stackOf(id: number, parents: ReadonlyMap<number, number>): number[] {
  const stack: number[] = []
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) stack.push(at)
  return stack
}

function isOurs({ url }: Frame): boolean {
  return url.includes('/packages/') && !url.includes('/node_modules/')
}

function describe(frame: Frame): string {
  return `${frame.functionName || '(anonymous)'}  ${areaOf(frame)}:${frame.lineNumber + 1}`
}

function areaOf({ functionName, url }: Frame): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)'
  const inPackage = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)
  return inPackage ? inPackage[1]! : url.replace(/^.*\/packages\//, '')
}
