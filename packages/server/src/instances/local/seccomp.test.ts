import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seccompProgram } from './seccomp.ts'
import { forbidden, inspected, type Architecture } from './syscalls.ts'

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 }
const both: Architecture[] = ['x64', 'arm64']
const ALLOW = 0x7fff0000
const EPERM = 0x00050001
const ENOSYS = 0x00050026

/** Runs the filter as the kernel does. */
function judge(program: Buffer, call: { architecture: number; number: number; args?: number[] }): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number >>> 0, 0)
  data.writeUInt32LE(call.architecture, 4)
  for (const [index, value] of (call.args ?? []).entries())
    data.writeBigUInt64LE(BigInt(value), 16 + 8 * index)
  let accumulator = 0
  for (let at = 0; ; at++) {
    const code = program.readUInt16LE(at * 8)
    const value = program.readUInt32LE(at * 8 + 4)
    const jump = (isTrue: boolean) => program.readUInt8(at * 8 + (isTrue ? 2 : 3))
    if (code === 0x20) accumulator = data.readUInt32LE(value)
    else if (code === 0x15) at += jump(accumulator === value)
    else if (code === 0x45) at += jump((accumulator & value) !== 0)
    else if (code === 0x06) return value
    else throw new Error(`Cannot run instruction 0x${code.toString(16)}`)
  }
}

for (const name of both) {
  const program = seccompProgram(name)
  const architecture = audit[name]
  const call = (number: number, ...args: number[]) => judge(program, { architecture, number, args })

  test(`${name}: the kernel accepts the filter`, () => {
    assert.equal(program.length % 8, 0)
    assert.ok(program.length / 8 <= 4096)
  })

  test(`${name}: refuses every forbidden call, and not its neighbours`, () => {
    const numbers = new Set(Object.values(forbidden).map((entry) => entry[name]))
    const special = new Set<number>([435, ...Object.values(inspected).map((entry) => entry[name])])
    for (let number = 0; number < 500; number++) {
      if (!special.has(number))
        assert.equal(call(number), numbers.has(number) ? EPERM : ALLOW, String(number))
    }
    assert.equal(call(435), ENOSYS)
  })

  test(`${name}: allows sockets by family, and netlink by protocol`, () => {
    const socket = inspected.socket[name]
    for (const family of [1, 2, 10]) assert.equal(call(socket, family, 1, 0), ALLOW)
    for (const family of [0, 3, 17, 29, 31, 38, 40, 44]) assert.equal(call(socket, family, 1, 0), EPERM)
    for (let protocol = 0; protocol < 32; protocol++) {
      assert.equal(call(socket, 16, 3, protocol), protocol === 0 || protocol === 15 ? ALLOW : EPERM)
    }
  })

  test(`${name}: refuses to type into terminals, whatever the high bits`, () => {
    const ioctl = inspected.ioctl[name]
    for (const request of [0x5412, 0x541c, 0x5412 + 2 ** 32]) assert.equal(call(ioctl, 0, request), EPERM)
    assert.equal(call(ioctl, 0, 0x5401), ALLOW)
  })

  test(`${name}: reports calls of other architectures as unknown`, () => {
    const other = name === 'x64' ? audit.arm64 : audit.x64
    for (const wrong of [other, 0x40000003, 0x40000028]) {
      assert.equal(judge(program, { architecture: wrong, number: 0 }), ENOSYS)
    }
    assert.equal(call(0x40000000 + 1), ENOSYS)
  })
}
