import { operationTable, type ApiOperation } from './operation-table.ts'

const table = operationTable()

export function findOperation(id: string): ApiOperation {
  const found = table[id]
  if (found === undefined) throw new Error(`The contract has no operation "${id}"`)
  return found
}

export const operationIds = (): string[] => Object.keys(table)
