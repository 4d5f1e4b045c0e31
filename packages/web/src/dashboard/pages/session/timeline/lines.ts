/** What the lines of an answer say, as they come. The last line needs no line feed. */
export async function* linesOfAnswer<Line>(answer: Response): AsyncGenerator<Line[]> {
  const reader = answer.body!.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const text = rest + decoder.decode(value, { stream: true })
      const end = text.lastIndexOf('\n')
      rest = text.slice(end + 1)
      if (end !== -1) yield parsed(text.slice(0, end))
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
  if (rest !== '') yield parsed(rest)
}

/** As one list, which takes half the time of one after another. No line feed is inside of a line. */
// SAFETY: the server answers as its contract says.
const parsed = <Line>(lines: string) => JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as Line[]
