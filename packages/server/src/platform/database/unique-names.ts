import { AppError } from '../errors/app-error.ts'
import { violatedConstraint } from './failures.ts'

interface UniqueNames {
  /** The constraint of the database that holds it. */
  readonly constraint: string
  /** What has the name, such as "project". */
  readonly what: string
}

type WithFreeName = <T>(name: string | null | undefined, write: () => Promise<T>) => Promise<T>

/** Makes a function that runs a write, and answers `already_exists` when another row has the name. */
export function uniqueNames({ constraint, what }: UniqueNames): WithFreeName {
  return async (name, write) => {
    try {
      return await write()
    } catch (error) {
      if (violatedConstraint(error) !== constraint) throw error
      throw nameTaken(name, what, error)
    }
  }
}

export function nameTaken(name: string | null | undefined, what: string, cause?: unknown): AppError {
  return new AppError('already_exists', `Cannot use name "${name}": another ${what} has it`, { cause })
}
