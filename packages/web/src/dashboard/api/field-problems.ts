// Which field of a form the server refused, and why.
interface Refused {
  readonly error?: {
    readonly message?: string
    readonly details?: readonly { readonly message?: string }[]
  }
}

/** By the path of the field in the request, such as `viewport.width`; the first problem of each field. */
export type FieldProblems = Readonly<Record<string, string>>

export function fieldProblems(thrown: unknown): FieldProblems {
  const { message = '', details = [] } = (thrown as Refused | null | undefined)?.error ?? {}
  const problems: Record<string, string> = {}
  const add = (path: string | undefined, complaint: string | undefined) => {
    if (path !== undefined && complaint !== undefined) problems[path] ??= complaint
  }
  for (const text of [...details.map((detail) => detail.message ?? ''), withoutAct(message)]) {
    const [, path, complaint] = /^([a-z_]+(?:[.[][^:\s]*)?): (.+)$/s.exec(text) ?? []
    add(path, complaint)
  }
  // Cannot use name "x": another profile has it
  const [, name, reason] = /^Cannot use ([a-z_]+) .*: (.+?)$/s.exec(message) ?? []
  add(name, reason)
  return problems
}

/** The problem of a field, or of something inside it, as a sentence. */
export function problemAt(problems: FieldProblems, field: string): string | undefined {
  const found = Object.entries(problems).find(([path]) => path === field || isInside(path, field))
  if (!found) return undefined
  const [path, complaint] = found
  return sentence(path === field ? complaint : `${path.slice(field.length).replace(/^\./, '')}: ${complaint}`)
}

const isInside = (path: string, field: string) =>
  path.startsWith(field) && ['.', '['].includes(path.charAt(field.length))

const withoutAct = (message: string) => message.replace(/^Cannot [^:]*: /, '')

export const sentence = (text: string) =>
  text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.')
