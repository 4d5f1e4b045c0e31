/** The JSON messages of a stream of server-sent events, as our server writes them: one `data:` line each. */
export async function* eventsOf<Event>(answer: Response): AsyncGenerator<Event> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const frames = (rest + value).split('\n\n')
    rest = frames.pop()!
    for (const frame of frames) {
      if (frame.startsWith('data: ')) yield JSON.parse(frame.slice(6)) as Event
    }
  }
}
