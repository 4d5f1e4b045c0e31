// Reads how much CPU time the hypervisor took from this machine.
import { readFileSync } from 'node:fs'

export interface CpuTicks {
  readonly total: number
  readonly stolen: number
}

/** Ticks of all cores: the total, and those that the hypervisor gave to others. */
export function cpuTicks(): CpuTicks {
  const line = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))![1]!
  // user nice system idle iowait irq softirq steal; the guest time that follows is already part of user.
  const fields = line.split(' ').slice(0, 8).map(Number)
  return { total: fields.reduce((sum, ticks) => sum + ticks, 0), stolen: fields[7] ?? 0 }
}

export function stolenShare(before: CpuTicks, after: CpuTicks): number {
  return (after.stolen - before.stolen) / Math.max(1, after.total - before.total)
}
