/** The lines of an answer, as they come. The last one needs no line feed. */
export async function* linesOfAnswer(answer: Response): AsyncGenerator<string[]> {
  const reader = answer.body!.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop()!
      if (lines.length > 0) yield lines
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
  if (rest !== '') yield [rest]
}
