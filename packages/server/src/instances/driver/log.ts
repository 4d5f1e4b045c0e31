// What drivers write to the log: less than a logger can, because a driver may run in another process than the server.
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** With these fields in every line. */
  child(fields: object): Log
}
