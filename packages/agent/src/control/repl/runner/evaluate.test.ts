import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Evaluator, Thrown } from './evaluate.ts'

const evaluator = await Evaluator.open()
const run = (code: string) => evaluator.evaluate(code)
after(() => delete (globalThis as { kept?: unknown }).kept)

async function thrownBy(code: string): Promise<Thrown> {
  return run(code).then(
    () => assert.fail(`${code} did not throw`),
    (error: unknown) => {
      assert.ok(error instanceof Thrown, String(error))
      return error
    },
  )
}

test('names stay for the next code, which may declare them again', async () => {
  assert.equal(await run('const a = 1; let b = 2; var c = 3; function sum() { return a + b + c }'), undefined)
  assert.equal(await run('sum()'), 6)
  assert.equal(await run('const a = 10; let b = await Promise.resolve(20); sum()'), 33)
  assert.equal(await run('class Ship { knots = 7 }; new Ship().knots'), 7)
  assert.equal(await run('class Ship { knots = 8 }; new Ship().knots'), 8)
  assert.equal(await run('const { length, ...rest } = await { length: 1, beam: 2 }; rest.beam + length'), 3)
})

test('await works anywhere, and a promise is awaited', async () => {
  assert.equal(await run('for (const each of [1, 2]) await each; await Promise.resolve("done")'), 'done')
  assert.equal(await run('Promise.resolve(5)'), 5)
  assert.equal(await run('for await (const each of [1, 2]) globalThis.last = each; last'), 2)
})

test('TypeScript runs, and modules can be imported', async () => {
  assert.equal(await run('interface A { b: number }\nconst it: A = { b: 4 }\nit.b satisfies number'), 4)
  assert.equal(await run('enum Size { Small, Large }\nSize.Large'), 1)
  assert.equal(await run('const { basename } = await import("node:path"); basename("/a/b")'), 'b')
  assert.equal(await run('require("node:path").basename("/a/c")'), 'c')
  assert.equal(
    await run('typeof process.pid + typeof fetch + typeof Buffer.from("x") + typeof setTimeout'),
    'numberfunctionobjectfunction',
  )
  assert.equal(await run('console'), console)
  assert.equal(await run('global === globalThis && global !== undefined'), true)
})

test('every kind of value comes out', async () => {
  const values = { undefined: undefined, null: null, true: true, '-0': -0, NaN, '10n': 10n, '"x\\n"': 'x\n' }
  for (const [code, value] of Object.entries(values)) assert.ok(Object.is(await run(code), value), code)
  assert.deepEqual(await run('Buffer.from("abc")'), Buffer.from('abc'))
  assert.equal(await run('({ a: [1] }).a[0]'), 1)
  assert.equal(typeof (await run('() => 1')), 'function')
  assert.equal(typeof (await run('Symbol("s")')), 'symbol')
})

test('what the code throws comes out as it is, with its place in the code', async () => {
  const error = (await thrownBy('\n  throw new TypeError("no")')).thrown as Error
  assert.equal(error.message, 'no')
  assert.match(error.stack!, /at call-\d+\.ts:2:9/)
  const later = (await thrownBy('await Promise.reject(new Error("later"))')).thrown as Error
  assert.match(later.stack!, /at call-\d+\.ts:1:/)
  assert.equal((await thrownBy('throw 5')).thrown, 5)
  assert.equal((await thrownBy('Promise.reject(6)')).thrown, 6)
  const syntax = await thrownBy('let fine = 1\nlet wrong = ;')
  assert.equal((syntax.thrown as Error).name, 'SyntaxError')
  assert.deepEqual(syntax.place, { line: 2, column: 13 })
  assert.equal((await thrownBy('JSON.parse("{")')).place, undefined)
  assert.equal(await run('1 + 1'), 2)
})

test('code that changes the globals does not change the evaluator', async () => {
  await run(`Object.prototype.value = 'trap'; Promise = null; globalThis.process = undefined
    Object.defineProperty(Object.prototype, 'then', { value: undefined, configurable: true })`)
  assert.equal(await run('40 + 2'), 42)
  assert.equal(typeof process, 'object')
  assert.deepEqual(await run('[1]').then((list) => (list as number[]).length), 1)
})
