import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seccompProgram } from './seccomp.ts'
import { allowedNumbers } from './allowed-syscalls.ts'
import { forbidden, inspected, type Architecture } from './syscalls.ts'

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 }
const both: Architecture[] = ['x64', 'arm64']
const ALLOW = 0x7fff0000
const EPERM = 0x00050001
const ENOSYS = 0x00050026
const EAFNOSUPPORT = 0x00050061

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
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0
    else if (code === 0x15) at += jump(accumulator === value)
    else if (code === 0x35) at += jump(accumulator >= value)
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

  test(`${name}: allows every listed call, refuses every forbidden one, and knows no other`, () => {
    const refused = new Set(Object.values(forbidden).map((entry) => entry[name]))
    const allowed = new Set(allowedNumbers(name))
    assert.equal(allowed.size, allowedNumbers(name).length)
    const special = new Set<number>(Object.values(inspected).map((entry) => entry[name]))
    for (let number = 0; number < 600; number++) {
      if (special.has(number)) continue
      assert.ok(!(allowed.has(number) && refused.has(number)), String(number))
      const verdict = allowed.has(number) ? ALLOW : refused.has(number) ? EPERM : ENOSYS
      assert.equal(call(number), verdict, String(number))
    }
    assert.equal(call(435), ENOSYS)
  })

  test(`${name}: allows sockets by family, type and protocol`, () => {
    const socket = inspected.socket[name]
    const CLOEXEC = 0o2000000
    for (const type of [1, 2, 5, 1 | CLOEXEC]) assert.equal(call(socket, 1, type, 0), ALLOW)
    for (const family of [2, 10]) {
      for (const type of [1, 2, 1 | CLOEXEC]) assert.equal(call(socket, family, type, 0), ALLOW)
      assert.equal(call(socket, family, 1, 6), ALLOW)
      assert.equal(call(socket, family, 2, 17), ALLOW)
      for (const type of [3, 3 | CLOEXEC, 4, 5, 6, 10]) assert.equal(call(socket, family, type, 0), EPERM)
      for (const protocol of [1, 33, 58, 132, 136, 262])
        assert.equal(call(socket, family, 1, protocol), EPERM)
    }
    for (const family of [0, 3, 17, 29, 31, 38, 40, 44]) assert.equal(call(socket, family, 1, 0), EPERM)
    for (let protocol = 0; protocol < 32; protocol++) {
      const verdict = protocol === 15 ? ALLOW : protocol === 0 ? EAFNOSUPPORT : EPERM
      assert.equal(call(socket, 16, 3, protocol), verdict)
    }
  })

  test(`${name}: allows the namespaces of Chromium's sandbox, as_root and apps, and no other`, () => {
    const [user, pid, net] = [0x10000000, 0x20000000, 0x40000000]
    const others = [0x20000, 0x2000000, 0x4000000, 0x8000000]
    const { clone, unshare } = inspected
    for (const flags of [17, user | 17, user | pid | 17, user | pid | net | 17, 0x3d0f00]) {
      assert.equal(call(clone[name], flags), ALLOW)
    }
    for (const flags of [net | 17, ...others, ...others.map((other) => other | user | pid | net)]) {
      assert.equal(call(clone[name], flags), EPERM)
    }
    for (const flags of [0x200, user, pid, user | pid]) assert.equal(call(unshare[name], flags), ALLOW)
    for (const flags of [net, user | net, 0x80, ...others, ...others.map((other) => other | user)]) {
      assert.equal(call(unshare[name], flags), EPERM)
    }
  })

  test(`${name}: refuses to make network devices`, () => {
    const ioctl = inspected.ioctl[name]
    for (const request of [0x8983, 0x8990, 0x89a0, 0x89a1, 0x89f1])
      assert.equal(call(ioctl, 3, request), EPERM)
    for (const request of [0x8912, 0x8927, 0x8946]) assert.equal(call(ioctl, 3, request), ALLOW)
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
