// Events as an ExportLogsServiceRequest of OTLP, in protobuf: a resource for each session, a log record for each event.
// The numbers are those of OpenTelemetry's own definitions: collector/logs/v1, logs/v1, resource/v1, common/v1.
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import type { EventType } from '@berth/contracts/telemetry-events'

export interface SessionEvents {
  readonly sessionId: string
  readonly projectId: string
  readonly events: readonly TelemetryEvent[]
}

const SERVICE = 'berth'
const SCOPE = 'berth.telemetry'
const NS_PER_US = 1000n
/** Many receivers take 100 nested messages, and each level of a value has three. */
const MAX_LEVELS = 16

const INFO = { number: 9, text: 'INFO' }
const WARN = { number: 13, text: 'WARN' }
const ERROR = { number: 17, text: 'ERROR' }
const severities: Partial<Record<EventType, typeof INFO>> = {
  console_error: ERROR,
  service_crashed: ERROR,
  system_oom_kill: ERROR,
  monitor_init_failed: ERROR,
  monitor_reconnect_failed: ERROR,
  network_loading_failed: WARN,
  monitor_disconnected: WARN,
  monitor_events_deleted: WARN,
}

export function encodeLogs(sessions: readonly SessionEvents[], { version }: { version: string }): Uint8Array {
  const writer = new BinaryWriter()
  for (const session of sessions) {
    message(writer, 1, () => {
      message(writer, 1, () => {
        attributes(writer, 1, {
          'service.name': SERVICE,
          'service.version': version,
          'berth.project.id': session.projectId,
          'berth.session.id': session.sessionId,
        })
      })
      message(writer, 2, () => {
        message(writer, 1, () => {
          text(writer, 1, SCOPE)
          text(writer, 2, version)
        })
        for (const event of session.events) {
          message(writer, 2, () => logRecord(writer, session.sessionId, event))
        }
      })
    })
  }
  return writer.finish()
}

/** The number of log records that the receiver refused, from its ExportLogsServiceResponse. Throws when it is malformed. */
export function readRejected(answer: Uint8Array): number {
  const reader = new BinaryReader(answer)
  let rejected = 0
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field !== 1 || type !== WireType.LengthDelimited) {
      reader.skip(type, field)
      continue
    }
    const partial = new BinaryReader(reader.bytes())
    while (partial.pos < partial.len) {
      const [inner, innerType] = partial.tag()
      if (inner === 1 && innerType === WireType.Varint) rejected = Number(partial.int64())
      else partial.skip(innerType, inner)
    }
  }
  return rejected
}

function logRecord(writer: BinaryWriter, sessionId: string, { seq, event }: TelemetryEvent): void {
  const { ts, type, category, source, data, truncated } = event
  const { number, text: severity } = severities[type] ?? INFO
  const time = BigInt(ts) * NS_PER_US
  writer.tag(1, WireType.Bit64).fixed64(time)
  writer.tag(11, WireType.Bit64).fixed64(time)
  writer.tag(2, WireType.Varint).int32(number)
  text(writer, 3, severity)
  if (data !== undefined) message(writer, 5, () => anyValue(writer, data, 1))
  attributes(writer, 6, {
    'session.id': sessionId,
    'berth.event.seq': seq,
    // For receivers that do not know the name field yet.
    'event.name': type,
    ...(category !== undefined && { 'berth.event.category': category }),
    'berth.source.kind': source.kind,
    ...(source.event !== undefined && { 'berth.source.event': source.event }),
    ...(source.metadata !== undefined && { 'berth.source.metadata': source.metadata }),
    ...(truncated !== undefined && { 'berth.event.truncated': truncated }),
  })
  text(writer, 12, type)
}

function attributes(writer: BinaryWriter, field: number, values: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(values)) {
    message(writer, field, () => {
      text(writer, 1, key)
      message(writer, 2, () => anyValue(writer, value, 1))
    })
  }
}

/** The value as it was in JSON; null has no field. */
function anyValue(writer: BinaryWriter, value: unknown, level: number): void {
  if (typeof value === 'string') text(writer, 1, value)
  else if (typeof value === 'boolean') writer.tag(2, WireType.Varint).bool(value)
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.tag(3, WireType.Varint).int64(value)
    else writer.tag(4, WireType.Bit64).double(value)
  } else if (typeof value === 'object' && value !== null) {
    if (level > MAX_LEVELS) text(writer, 1, JSON.stringify(value))
    else if (Array.isArray(value)) {
      message(writer, 5, () => {
        for (const item of value) message(writer, 1, () => anyValue(writer, item, level + 1))
      })
    } else {
      message(writer, 6, () => {
        for (const [key, item] of Object.entries(value)) {
          message(writer, 1, () => {
            text(writer, 1, key)
            message(writer, 2, () => anyValue(writer, item, level + 1))
          })
        }
      })
    }
  }
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork()
  write()
  writer.join()
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value)
}
