// One canary: a process that does the same work again and again and says how long it took, by the clock and by its own.

export interface Sung {
  readonly wallMs: number
  readonly cpuMs: number
}

/** Enough arithmetic for some 50 ms; what exactly is decided once, by calibration. */
function spin(rounds: number): Sung {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  let value = 1
  for (let round = 0; round < rounds; round++) value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0
  // The result is used, or the loop could be optimised away.
  if (value === 0.5) throw new Error('An integer is none')
  const { user, system } = process.cpuUsage(before)
  return { wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 }
}

process.on('message', (rounds: number) => process.send!(spin(rounds)))
process.on('disconnect', () => process.exit())
