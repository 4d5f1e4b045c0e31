// The first command of an empty page.
/** A request with curl, to the origin of this page. */
export function curl(method: string, path: string, body?: object): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} -H "Authorization: Bearer $BERTH_API_KEY"`]
  if (body) lines.push('  -H "Content-Type: application/json"', `  -d '${JSON.stringify(body)}'`)
  lines.push(`  ${location.origin}${path}`)
  return lines.join(' \\\n')
}
