import { followSse } from '@berth/kit/sse-follow'

const MAX_EVENT_LENGTH = 1024 * 1024

/** The JSON messages of a stream of server-sent events. */
export async function* eventsOf<Event>(answer: Response): AsyncGenerator<Event> {
  for await (const { data } of followSse(answer.body!, { maxLength: MAX_EVENT_LENGTH })) {
    yield JSON.parse(data) as Event
  }
}
