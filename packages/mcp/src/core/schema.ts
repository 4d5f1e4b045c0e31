// The input of a tool as JSON schema, and the check of what a client sends against it.
import { Type, type TProperties, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { isMany, type Tool } from './tool.ts'

const MAX_NAMED = 5

const projectFields: TProperties = {
  project: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Id or exact name of the project, for a key of the whole organisation',
    }),
  ),
  project_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Deprecated: id of the project; use project' }),
  ),
}

export interface ToolInput {
  readonly schema: TSchema
  readonly check: Validator
}

/** `actions`: those that the caller may use. */
export function inputOf(tool: Tool, actions: readonly string[] | undefined): ToolInput {
  const fields: TProperties = {
    ...(isMany(tool) && {
      action: Type.Unsafe({ type: 'string', enum: actions, description: 'What to do' }),
    }),
    ...tool.input,
    ...(tool.ofProject !== false && projectFields),
  }
  const schema = Type.Object(fields, { additionalProperties: false })
  return { schema, check: Compile(schema) }
}

/** What is wrong with the input, by field and with the remedy; undefined when nothing is. */
export function faultOf({ check }: ToolInput, args: unknown): string | undefined {
  if (check.Check(args)) return undefined
  const faults = check.Errors(args).map((error) => {
    const field = error.instancePath === '' ? '' : `${error.instancePath.slice(1).replaceAll('/', '.')} `
    return `- ${field}${messageOf(error)}`
  })
  return [...new Set(faults)].slice(0, MAX_NAMED).join('\n')
}

type ValidationError = ReturnType<Validator['Errors']>[number]

function messageOf(error: ValidationError): string {
  const { keyword, message } = error
  const params = error.params as Record<string, unknown>
  switch (keyword) {
    case 'additionalProperties':
      return `has fields that this tool does not know: ${quoted(params['additionalProperties'])}; leave them out`
    case 'required':
      return `lacks ${quoted(params['requiredProperties'])}`
    case 'enum':
      return `must be one of ${quoted(params['allowedValues'])}`
    default:
      return message
  }
}

const quoted = (names: unknown) =>
  (Array.isArray(names) ? names : [names]).map((name) => `"${String(name)}"`).join(', ')

/** What an action cannot do without, besides what every action needs. */
export function missingIn(args: Readonly<Record<string, unknown>>, requires: readonly string[]): string[] {
  return requires.filter((names) => names.split('|').every((name) => args[name] === undefined))
}
