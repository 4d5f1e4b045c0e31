import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadCode, compile } from './code.ts'

const nothing = undefined as never
const run = (code: string) => compile(code)(nothing, nothing, nothing)

test('types are removed, and TypeScript that is more than types works too', async () => {
  assert.equal(await run('interface A { b: number }\nconst a: A = { b: 2 }\nreturn a.b satisfies number'), 2)
  assert.equal(await run('function same<T>(x: T): T { return x }\nreturn same<number>(3)'), 3)
  assert.equal(await run('enum Size { Small, Large }\nreturn Size.Large'), 1)
  assert.equal(await run('class A { constructor(readonly x: number) {} }\nreturn new A(5).x'), 5)
  assert.equal(await run('return (await import("node:path")).basename("/a/b")'), 'b')
  assert.equal(await run('return 1 // the end'), 1)
  assert.equal(await run('await null'), undefined)
})

test('a syntax error names its line and column', () => {
  const wrong: [string, RegExp][] = [
    ['let a = ;', /line 1, column 9\)/],
    ['const x: number = 1\n\n  foo(;', /line 3, column 7\)/],
    ['let a = 1\nlet a = 2', /already been declared \(line 2, column 5\)/],
    ['import x from "y"', /line 1, column 1\)/],
    ['return await', /line 2, column 1\)/],
  ]
  for (const [code, place] of wrong) {
    assert.throws(
      () => compile(code),
      (error: unknown) => error instanceof BadCode && place.test(error.message),
      code,
    )
  }
})

test('a failure names the line and column in the code', async () => {
  await assert.rejects(run('const a: number = 1\n  throw new Error("x")'), (error: Error) => {
    return /code\.ts:2:9/.test(error.stack!)
  })
})
