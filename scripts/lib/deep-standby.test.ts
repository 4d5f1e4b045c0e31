import assert from 'node:assert/strict'
import { test } from 'node:test'

const { packageForDeepStandby } = (await import(new URL('deep-standby.mjs', import.meta.url).href)) as {
  packageForDeepStandby: (options: {
    wanted: string
    say: (text: string) => void
    machine: { has: (module: string) => boolean; load: (module: string) => boolean }
  }) => object | undefined
}

const cryptsetup = { package: 'cryptsetup-bin', command: 'cryptsetup', isOptional: true }

/** `there`: loaded already. `loadable`: the kernel has the module. */
function setUp(wanted: string, { there = [], loadable = [] }: { there?: string[]; loadable?: string[] }) {
  const said: string[] = []
  const loaded = new Set(there)
  const machine = {
    has: (module: string) => loaded.has(module),
    load: (module: string) => {
      if (loadable.includes(module)) loaded.add(module)
      return loadable.includes(module)
    },
  }
  const needed = packageForDeepStandby({ wanted, machine, say: (text) => said.push(text) })
  return { needed, said, loaded: [...loaded] }
}

test('a kernel with zram needs nothing, and the set-up is silent', () => {
  assert.deepEqual(setUp('auto', { there: ['zram'], loadable: ['dm-crypt'] }), {
    needed: undefined,
    said: [],
    loaded: ['zram'],
  })
})

test('the module of zram is loaded, and the set-up says so', () => {
  const { needed, said, loaded } = setUp('auto', { loadable: ['zram', 'dm-crypt'] })
  assert.deepEqual([needed, loaded], [undefined, ['zram']])
  assert.match(said.join('\n'), /^loaded the kernel module zram/)
})

test('without zram, or if the operator wants it, a file is encrypted with a package', () => {
  assert.deepEqual(setUp('auto', { loadable: ['dm-crypt'] }).needed, cryptsetup)
  assert.deepEqual(setUp('file', { there: ['zram', 'dm-crypt'] }).needed, cryptsetup)
})

test('where the kernel has neither, the set-up says what that means', () => {
  for (const [wanted, lacks] of [
    ['auto', 'zram or dm-crypt'],
    ['zram', 'zram'],
    ['file', 'dm-crypt'],
  ] as const) {
    const { needed, said } = setUp(wanted, {})
    assert.equal(needed, undefined)
    assert.match(said.join('\n'), new RegExp(`keep their memory, because the kernel has no ${lacks};`))
  }
  assert.equal(setUp('zram', { loadable: ['dm-crypt'] }).needed, undefined, 'nobody wants a file')
})

test('nothing is loaded when it is off, or when the operator has swap', () => {
  for (const wanted of ['off', '/dev/sda2']) {
    assert.deepEqual(setUp(wanted, { loadable: ['zram'] }), { needed: undefined, said: [], loaded: [] })
  }
})
