// What each type of telemetry event has in its `data`. Only the OpenAPI document uses it: the server passes events on as
// they are, and the agent is kept small.
import { Type, type TProperties } from 'typebox'
import { OneOf } from './schema.ts'
import { categoryOfType, proxyErrorCodes, sourceKinds, type EventType } from './telemetry-events.ts'

const maybe = Type.Optional
const text = (description: string) => Type.String({ description })
const whole = (description: string) => Type.Integer({ description })
const number = (description: string) => Type.Number({ description })
const flag = (description: string) => Type.Boolean({ description })

/** Where in the browser it happened. */
const place = {
  session_id: text('CDP session of the target'),
  target_id: text('Target: the tab or worker'),
  target_type: OneOf(['page', 'background_page', 'service_worker', 'shared_worker', 'other'], {
    description: 'Type of the target',
  }),
  frame_id: maybe(text('Frame; absent for workers')),
  loader_id: maybe(text('Document of the frame; absent for workers')),
  url: maybe(text('Address of the document or of the request')),
  nav_seq: maybe(whole('Number of the document in its tab; absent for workers')),
}

const callFrame = Type.Object(
  {
    functionName: text('Name of the function; empty for an anonymous one'),
    scriptId: text('Id of the script'),
    url: text('Address of the script'),
    lineNumber: whole('Line, counted from 0'),
    columnNumber: whole('Column, counted from 0'),
  },
  { title: 'CallFrame' },
)
const StackTrace = Type.Object(
  {
    description: maybe(text('What the stack belongs to, such as a timer')),
    callFrames: Type.Array(callFrame, { description: 'Frames, innermost first' }),
    parent: maybe(
      Type.Unsafe<object>({
        $ref: '#/components/schemas/StackTrace',
        description: 'Stack that led to this one',
      }),
    ),
  },
  { title: 'StackTrace', description: 'Stack in the names of the DevTools protocol' },
)

const headers = Type.Record(Type.String(), Type.String(), { description: 'Headers' })
const requestId = text('Id of the request in its session')
const resourceType = text('Type of the resource in the DevTools protocol, such as `Fetch`')
const durationMs = whole('Milliseconds that it took')
const args = Type.Array(Type.String(), { description: 'All arguments as text' })
const at = {
  x: number('Horizontal position in the viewport'),
  y: number('Vertical position in the viewport'),
}
const element = {
  selector: text('CSS selector of the element'),
  tag: text('Name of the element in capitals'),
}
const timeline = { source_frame_id: text('Frame where it happened'), time: number('Milliseconds since 1970') }
const contentTime = { cdp_timestamp: number('Monotonic time of Chromium in seconds') }
const viewer = { session_id: text('Id of the viewer') }

/** Undefined: the type has no data. */
const fieldsOf: Readonly<Record<EventType, TProperties | undefined>> = {
  console_log: {
    ...place,
    level: text('Kind of line in the DevTools protocol, such as `info`'),
    text: text('First argument as text'),
    args,
    stack_trace: maybe(StackTrace),
  },
  console_error: {
    ...place,
    text: text('First argument of console.error(), or the message of the uncaught exception'),
    level: maybe(text('`error`; only of console.error()')),
    args: maybe(args),
    line: maybe(whole('Line of the uncaught exception, counted from 0')),
    column: maybe(whole('Column of the uncaught exception, counted from 0')),
    source_url: maybe(text('Script of the uncaught exception')),
    stack_trace: maybe(StackTrace),
  },
  network_request: {
    ...place,
    request_id: requestId,
    method: text('HTTP method'),
    headers,
    post_data: maybe(text('Body of the request, if it is text')),
    document_url: maybe(text('Document that made the request')),
    resource_type: resourceType,
    initiator_type: maybe(text('What made the request, such as `script`')),
    is_redirect: flag('Whether it follows a redirect'),
    redirect_url: maybe(text('Address that redirected')),
  },
  network_response: {
    ...place,
    request_id: requestId,
    method: text('HTTP method'),
    status: whole('Status of the response'),
    status_text: text('Text of the status'),
    headers,
    mime_type: maybe(text('Media type')),
    resource_type: resourceType,
    body: maybe(text('Start of the body, if it is text')),
  },
  network_loading_failed: {
    ...place,
    request_id: requestId,
    error_text: text('Error of Chromium, such as `net::ERR_CONNECTION_REFUSED`'),
    canceled: flag('Whether the page or the browser gave up'),
    resource_type: resourceType,
  },
  proxy_error: {
    ...place,
    code: OneOf(proxyErrorCodes, { description: 'Why egress did not reach the website' }),
    request_id: requestId,
    status: whole('Status of the answer of egress'),
    method: maybe(text('HTTP method')),
    resource_type: maybe(resourceType),
  },
  network_idle: place,
  page_navigation: { ...place, parent_frame_id: maybe(text('Frame around it; absent for the tab itself')) },
  page_dom_content_loaded: { ...place, ...contentTime },
  page_load: { ...place, ...contentTime },
  page_tab_opened: {
    target_id: place.target_id,
    target_type: text('Type of the target'),
    url: text('First address'),
    title: maybe(text('First title')),
    opener_id: maybe(text('Tab that opened it')),
  },
  page_layout_shift: {
    ...place,
    ...timeline,
    duration: number('Duration; always 0'),
    layout_shift_details: Type.Object(
      {
        value: number('Score of the shift'),
        had_recent_input: flag('Whether the user had just done something'),
      },
      { title: 'LayoutShiftDetails' },
    ),
  },
  page_lcp: {
    ...place,
    ...timeline,
    lcp_details: Type.Object(
      {
        element_id: maybe(text('Id of the element')),
        node_id: maybe(whole('DOM node of the element')),
        size: number('Size in square pixels'),
        url: maybe(text('Address of the image or video')),
        load_time: number('When it was loaded, in milliseconds since 1970'),
        render_time: number('When it was shown, in milliseconds since 1970'),
      },
      { title: 'LcpDetails' },
    ),
  },
  page_layout_settled: place,
  page_navigation_settled: place,
  interaction_click: { ...place, ...at, ...element, text: maybe(text('Visible text of the element')) },
  interaction_key: { ...place, ...element, key: maybe(text('Key; absent where a secret may be typed')) },
  interaction_scroll_settled: {
    ...place,
    from_x: whole('Horizontal position before'),
    from_y: whole('Vertical position before'),
    to_x: whole('Horizontal position now'),
    to_y: whole('Vertical position now'),
    target_selector: text('CSS selector of what was scrolled, or `document`'),
  },
  monitor_screenshot: { png: Type.String({ contentEncoding: 'base64', description: 'Picture of the page' }) },
  monitor_disconnected: { reason: text('`chrome_restarted`') },
  monitor_reconnected: { reconnect_duration_ms: whole('Milliseconds without the browser') },
  monitor_reconnect_failed: { reason: text('`reconnect_exhausted`') },
  monitor_init_failed: { step: text('What failed') },
  monitor_events_deleted: { reason: text('`storage_limit`') },
  api_call: {
    operation_id: text('Operation, by its id in this document'),
    request_id: text('Id of the request, as in `X-Request-Id`'),
    status: whole('Status of the answer'),
    duration_ms: durationMs,
  },
  cdp_connect: undefined,
  cdp_disconnect: {
    duration_ms: durationMs,
    message_count: whole('Number of messages'),
    reason: OneOf(['client_close', 'upstream_changed', 'upstream_error', 'context_cancelled'], {
      description: 'What ended it',
    }),
  },
  live_view_connect: viewer,
  live_view_disconnect: { ...viewer, duration_ms: durationMs },
  captcha_solve_result: {
    captcha_type: text('Kind of captcha'),
    status: text('Result'),
    duration_ms: durationMs,
    error_code: maybe(text('Error of the solver')),
    task_id: maybe(text('Id at the solver')),
    website_host: maybe(text('Host of the page')),
    website_path: maybe(text('Path of the page')),
  },
  system_oom_kill: {
    process_name: text('Program that was killed'),
    pid: whole('Its process id'),
    rss_kb: whole('Memory that it used, in KiB'),
    constraint: maybe(text('`memcg`: the limit of the session')),
    mem_total_kb: maybe(whole('That limit, in KiB')),
  },
  service_crashed: {
    service_name: text('What ended'),
    phase: OneOf(['startup', 'running', 'gave_up'], { description: 'When it ended' }),
    pid: maybe(whole('Its process id')),
  },
  sound_start: undefined,
  sound_stop: { duration_ms: whole('Milliseconds for which something played') },
}

const EventSource = Type.Object(
  {
    kind: OneOf(sourceKinds, { description: 'Kind of source' }),
    event: maybe(text('Name of the event at the source')),
    metadata: maybe(Type.Record(Type.String(), Type.String(), { description: 'Further details' })),
  },
  { title: 'EventSource', description: 'Source of the event' },
)

/** Such as ConsoleLogEvent. */
const titleOf = (type: string) =>
  `${type
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')}Event`

const types = Object.keys(categoryOfType) as EventType[]

const variants = types.map((type) => {
  const fields = fieldsOf[type]
  return Type.Object(
    {
      ts: whole('Time in microseconds since 1970'),
      type: Type.Unsafe({ type: 'string', const: type, description: 'Type of the event' }),
      category: Type.Unsafe({
        type: 'string',
        const: categoryOfType[type],
        description: 'Category of the event',
      }),
      source: EventSource,
      ...(fields && { data: Type.Object(fields, { title: `${titleOf(type)}Data` }) }),
      truncated: maybe(flag('Whether data was cut because it was too large')),
    },
    { title: titleOf(type) },
  )
})

/** The same events as TelemetryEvent, with the data of each type. */
export const DescribedTelemetryEvent = Type.Object(
  {
    seq: Type.Integer({
      minimum: 1,
      description: 'Sequence number; grows by one. A gap means that events were dropped',
    }),
    event: Type.Unsafe({
      title: 'TelemetryEventBody',
      oneOf: variants,
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(types.map((type) => [type, `#/components/schemas/${titleOf(type)}`])),
      },
    }),
  },
  { title: 'TelemetryEvent' },
)
