// One call of a tool, from what the client sent to what it gets.
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { failure, type Answer } from './answer.ts'
import { refusalOf, type Api } from './api.ts'
import type { OfferedTool } from './catalogue.ts'
import { faultOf, missingIn } from './schema.ts'
import { isMany, type Context } from './tool.ts'

/** A failure of which the model should know why, such as a button that is not there. */
export class ToolFailure extends Error {
  readonly more: Answer

  constructor(message: string, more: Answer = []) {
    super(message)
    this.more = more
  }
}

export async function runTool(
  { tool, actions, input }: OfferedTool,
  args: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<CallToolResult> {
  const name = args['action']
  if (isMany(tool) && !actions?.some((each) => each === name)) {
    const wanted = `give "action", one of ${(actions ?? []).join(', ')}`
    return failure(`Cannot call ${tool.name}: ${wanted}`, 'bad_request')
  }
  const fault = faultOf(input, args)
  if (fault !== undefined)
    return failure(`Cannot call ${tool.name}: its input is wrong\n${fault}`, 'bad_request')
  const { project, project_id: projectId } = args as { project?: string; project_id?: string }
  const api = inProject(context.api, { project, projectId })
  try {
    if (!isMany(tool)) return { content: content(await tool.run(args, { ...context, api })) }
    // SAFETY: it is one of them, see above.
    const action = tool.actions[name as string]!
    const missing = missingIn(args, action.requires ?? [])
    if (missing.length > 0) {
      const names = missing.map((each) => `"${each.replaceAll('|', '" or "')}"`).join(', ')
      return failure(`Cannot ${String(name)}: ${tool.name} needs ${names} for it`, 'bad_request')
    }
    return { content: content(await action.run(args, { ...context, api })) }
  } catch (error) {
    if (error instanceof ToolFailure) {
      return { content: [{ type: 'text', text: error.message }, ...error.more], isError: true }
    }
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    return failure(refusal.message, refusal.code)
  }
}

/** Header values travel as Latin-1. */
const encoded = (text: string) => Buffer.from(text).toString('latin1')

const content = (answer: Answer): ContentBlock[] => [...answer]

function inProject(
  api: Api,
  { project, projectId }: { project: string | undefined; projectId: string | undefined },
): Api {
  const headers = {
    ...(project !== undefined && { 'x-kernel-project': encoded(project) }),
    ...(projectId !== undefined && { 'x-kernel-project-id': encoded(projectId) }),
  }
  return Object.keys(headers).length === 0 ? api : api.with({ headers })
}
