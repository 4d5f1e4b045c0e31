// Classifies a database error by what it means for the caller.
import { DatabaseError } from 'pg'

export type DatabaseFailure = 'unavailable' | 'disk-full' | 'unique-violation'

const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
])

// The pool and the driver report these without a code.
const CONNECTION_MESSAGES =
  /timeout exceeded when trying to connect|timeout expired|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after/i

// Classes and codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const UNAVAILABLE = /^(08|53[03]|57P|25006|57014|55P03|40001|40P01)/
const DISK_FULL = /^(53100|58030)/

export function databaseFailure(error: unknown): DatabaseFailure | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof DatabaseError) {
    const code = error.code ?? ''
    if (code === '23505') return 'unique-violation'
    if (DISK_FULL.test(code)) return 'disk-full'
    return UNAVAILABLE.test(code) ? 'unavailable' : undefined
  }
  const { code = '', syscall } = error as NodeJS.ErrnoException
  // Of a file that is missing, it says nothing about the database.
  const isOfFile = code === 'ENOENT' && syscall !== 'connect'
  const fromSocket = CONNECTION_ERRORS.has(code) && syscall !== undefined && !isOfFile
  return fromSocket || CONNECTION_MESSAGES.test(error.message) ? 'unavailable' : undefined
}

export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof DatabaseError && error.code === '23505' ? error.constraint : undefined
}
