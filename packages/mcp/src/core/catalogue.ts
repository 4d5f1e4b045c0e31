// The tools that one caller gets: those that its key allows, of the toolsets that it asked for.
import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { mayCall, type Caller } from './caller.ts'
import { inputOf, type ToolInput } from './schema.ts'
import { isMany, toolsets, type Hints, type Tool, type Toolset } from './tool.ts'

export interface OfferedTool {
  readonly tool: Tool
  readonly input: ToolInput
  /** Of a tool with actions: those that the caller may use. */
  readonly actions: readonly string[] | undefined
}

export class UnknownToolset extends Error {}

/** Undefined: all of them. `all,-docs` is all but one. */
export function toolsetsIn(text: string | undefined): ReadonlySet<Toolset> {
  const all = new Set<Toolset>(toolsets)
  const names = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0) return all
  const chosen = names.every((name) => name.startsWith('-') || name === 'all') ? all : new Set<Toolset>()
  for (const name of names) {
    const plain = name.replace(/^-/, '') as Toolset | 'all'
    if (plain === 'all') continue
    if (!all.has(plain) && !toolsets.includes(plain)) {
      throw new UnknownToolset(`toolsets: there is no "${plain}"; the toolsets are ${toolsets.join(', ')}`)
    }
    if (name.startsWith('-')) chosen.delete(plain)
    else chosen.add(plain)
  }
  return chosen
}

/** Inputs are compiled once for each set of actions, not for each request. */
const inputs = new WeakMap<Tool, Map<string, ToolInput>>()

function compiledInput(tool: Tool, actions: readonly string[] | undefined): ToolInput {
  const known = inputs.get(tool) ?? new Map<string, ToolInput>()
  inputs.set(tool, known)
  const key = actions?.join() ?? ''
  const input = known.get(key) ?? inputOf(tool, actions)
  known.set(key, input)
  return input
}

export function offeredTools(
  tools: readonly Tool[],
  { caller, wanted }: { caller: Caller; wanted: ReadonlySet<Toolset> },
): readonly OfferedTool[] {
  return tools
    .filter(({ toolset }) => wanted.has(toolset))
    .flatMap((tool): OfferedTool[] => {
      if (!isMany(tool)) {
        const isAllowed = tool.needs.every((operation) => mayCall(caller, operation))
        return isAllowed ? [{ tool, actions: undefined, input: compiledInput(tool, undefined) }] : []
      }
      const actions = Object.entries(tool.actions).flatMap(([name, { needs }]) =>
        needs.every((operation) => mayCall(caller, operation)) ? [name] : [],
      )
      return actions.length === 0 ? [] : [{ tool, actions, input: compiledInput(tool, actions) }]
    })
}

export function listed({ tool, actions, input }: OfferedTool): ListedTool {
  const hints = hintsOf(tool, actions)
  return {
    name: tool.name,
    title: tool.title,
    description: descriptionOf(tool, actions),
    // SAFETY: it is a schema of an object.
    inputSchema: input.schema as unknown as ListedTool['inputSchema'],
    annotations: {
      title: tool.title,
      readOnlyHint: hints.readOnly ?? false,
      destructiveHint: hints.destructive ?? false,
      idempotentHint: hints.idempotent ?? false,
      openWorldHint: true,
    },
  }
}

function hintsOf(tool: Tool, actions: readonly string[] | undefined): Hints {
  if (!isMany(tool)) return tool.hints ?? {}
  const chosen = (actions ?? []).map((name) => tool.actions[name]!)
  return {
    readOnly: chosen.every(({ needs }) => needs.every(({ effect }) => effect === 'read')),
    destructive: chosen.some(({ needs }) => needs.some(({ method }) => method === 'DELETE')),
  }
}

function descriptionOf(tool: Tool, actions: readonly string[] | undefined): string {
  if (!isMany(tool)) return tool.description
  const lines = (actions ?? []).map((name) => {
    const { does, requires = [] } = tool.actions[name]!
    const needs =
      requires.length === 0
        ? ''
        : ` (needs ${requires.map((each) => each.replaceAll('|', ' or ')).join(', ')})`
    return `- ${name}: ${does}${needs}`
  })
  return [tool.description, 'Actions:', ...lines].join('\n')
}
