// One process of the noise check: repeats the same work and reports how long it took, by the clock and in CPU time.

export interface SpinTime {
  readonly wallMs: number
  readonly cpuMs: number
}

/** About 50 ms of arithmetic; a calibration chooses the number of rounds. */
function spin(rounds: number): SpinTime {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  let value = 1
  for (let round = 0; round < rounds; round++) value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0
  // Uses the result, so that the loop is not optimised away.
  if (value === 0.5) throw new Error('An integer cannot be 0.5')
  const { user, system } = process.cpuUsage(before)
  return { wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 }
}

process.on('message', (rounds: number) => process.send!(spin(rounds)))
process.on('disconnect', () => process.exit())
