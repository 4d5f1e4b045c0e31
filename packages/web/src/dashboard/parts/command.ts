// Commands for people to copy. The key is a variable of their shell.
export interface Command {
  readonly path: string
  readonly body?: object
  readonly method?: string
  readonly projectId?: string | undefined
}

/** A request with curl, to the origin of this page. With a body it is a POST. */
export function curl({ path, body, method, projectId }: Command): string {
  const parts = [
    `curl ${method === undefined ? '' : `-X ${method} `}${location.origin}${path}`,
    '-H "Authorization: Bearer $BERTH_API_KEY"',
    ...(projectId === undefined ? [] : [`-H 'X-Kernel-Project-Id: ${projectId}'`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${inShell(JSON.stringify(body))}`]),
  ]
  return parts.join(' \\\n  ')
}

/** One word of a POSIX shell, whatever it contains. */
export const inShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
