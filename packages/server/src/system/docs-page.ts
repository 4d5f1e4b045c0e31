import type { Operation } from '@berth/contracts/operation'

export function docsPage(_operations: readonly Operation[]): string {
  return '<!doctype html><title>Berth</title>'
}
