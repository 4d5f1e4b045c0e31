// One canary: a process that does the same work again and again and says how long it took.

/** Enough arithmetic for some 50 ms; what exactly is decided once, by calibration. */
function spin(rounds: number): number {
  const startedAt = performance.now()
  let value = 1
  for (let round = 0; round < rounds; round++) value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0
  // The result is used, or the loop could be optimised away.
  return value === 0.5 ? 0 : performance.now() - startedAt
}

process.on('message', (rounds: number) => process.send!(spin(rounds)))
process.on('disconnect', () => process.exit())
