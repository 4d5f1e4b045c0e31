// Which field of a form the server refused, and why.
interface Refused {
  readonly error?: {
    readonly message?: string
    readonly details?: readonly { readonly code?: string; readonly message?: string }[]
  }
}

/** By the path of the field in the request, such as `viewport.width`; the first problem of each field. */
export function fieldProblems(thrown: unknown): Readonly<Record<string, string>> {
  const { message, details = [] } = (thrown as Refused | undefined)?.error ?? {}
  const problems: Record<string, string> = {}
  for (const text of [...details.map((detail) => detail.message), withoutPrefix(message)]) {
    const [, path, complaint] = /^([a-z_]+(?:\.[^:\s]+)*): (.+)$/s.exec(text ?? '') ?? []
    if (path !== undefined && complaint !== undefined) problems[path] ??= complaint
  }
  return problems
}

/** The problem of a field, or of something inside it. */
export function problemAt(problems: Readonly<Record<string, string>>, field: string): string | undefined {
  const found = Object.entries(problems).find(([path]) => path === field || path.startsWith(`${field}.`))
  if (!found) return undefined
  const [path, complaint] = found
  return path === field ? complaint : `${path.slice(field.length + 1)}: ${complaint}`
}

const withoutPrefix = (message: string | undefined) => message?.replace(/^Cannot [^:]*: /, '')
