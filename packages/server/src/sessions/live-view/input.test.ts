import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RFB_VERSION, RfbError } from '@berth/codecs/rfb/client-messages'
import { Input } from './input.ts'

const opening = Buffer.from(`${RFB_VERSION}\x01\x00`, 'latin1')
const pointer = (x: number, mask = 0) => Buffer.from([5, mask, 0, x, 0, 0])
const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 65])
const text = Buffer.from([6, 0, 0, 0, 0, 0, 0, 1, 65])
const placedKey = Buffer.from([255, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0, 30])
const request = Buffer.from([3, 1, 0, 0, 0, 0, 0, 9, 0, 9])
const resize = Buffer.concat([Buffer.from([251, 0, 4, 0, 3, 0, 1, 0]), Buffer.alloc(16)])

function opened({ isReadOnly = false } = {}) {
  const passed: Buffer[] = []
  const input = new Input({ isReadOnly, pass: (bytes) => passed.push(bytes) })
  input.take(opening)
  const first = Buffer.concat(passed.splice(0))
  return { input, first, taken: () => Buffer.concat(passed.splice(0)) }
}

test('a viewer must open correctly, and disconnects nobody else', () => {
  assert.deepEqual(opened().first, Buffer.from(`${RFB_VERSION}\x01\x01`, 'latin1'))
  for (const wrong of ['RFB 003.003\n\x01\x01', `${RFB_VERSION}\x02\x01`, 'GET / HTTP/1.1\r\n']) {
    const input = new Input({ isReadOnly: false, pass: () => {} })
    assert.throws(() => input.take(Buffer.from(wrong, 'latin1')), RfbError)
  }
})

test('a read-only viewer can request pictures and nothing else', () => {
  const { input, taken } = opened({ isReadOnly: true })
  for (const each of [key, placedKey, pointer(1, 1), text, resize]) input.take(each)
  assert.equal(taken().length, 0)
  input.take(request)
  assert.deepEqual(taken(), request)
})

test('no viewer can resize the screen', () => {
  const { input, taken } = opened()
  input.take(Buffer.concat([resize, key, Buffer.from([250, 0, 1, 2])]))
  assert.deepEqual(taken(), key)
})

test('only the last pointer move is sent, but every press and release with its position', () => {
  const { input, taken } = opened()
  input.take(Buffer.concat([pointer(1), pointer(2), pointer(3), pointer(3, 1), pointer(4, 1), pointer(5, 0)]))
  assert.deepEqual(taken(), Buffer.concat([pointer(3), pointer(3, 1), pointer(4, 1), pointer(5)]))
  input.close()
})

test('a move shortly after another one is sent a little later', async () => {
  const { input, taken } = opened()
  input.take(pointer(1))
  assert.deepEqual(taken(), pointer(1))
  for (let x = 2; x < 100; x++) input.take(pointer(x))
  const early = taken()
  assert.ok(early.length <= 6, `${early.length} bytes`)
  const deadline = performance.now() + 1_000
  let late = early
  while (!late.equals(pointer(99)) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    const next = taken()
    if (next.length > 0) late = next
  }
  assert.deepEqual(late, pointer(99))
})

test('a viewer that sends too much is paused', () => {
  const { input } = opened()
  let waitMs = 0
  for (let count = 0; count < 3_000; count++) waitMs = input.take(key)
  assert.ok(waitMs > 1_000 && waitMs <= 2_000, `${waitMs} ms`)
  const moves = opened().input
  for (let count = 0; count < 100_000; count++) assert.equal(moves.take(pointer(count % 250)), 0)
  moves.close()
})

test('unknown encodings are removed, and read-only viewers get no clipboard', () => {
  const asked = [7, -316, -309, -305, 0xc0a1e5ce | 0, 1]
  const message = Buffer.alloc(4 + asked.length * 4)
  message[0] = 2
  message.writeUInt16BE(asked.length, 2)
  for (const [index, encoding] of asked.entries()) message.writeInt32BE(encoding, 4 + index * 4)
  const { input, taken } = opened()
  input.take(message)
  const passed = taken()
  assert.equal(passed.length, 4 + 3 * 4)
  assert.deepEqual(
    [4, 8, 12].map((at) => passed.readInt32BE(at)),
    [7, 0xc0a1e5ce | 0, 1],
  )

  const watching = opened({ isReadOnly: true })
  watching.input.take(Buffer.from([2, 0, 0, 1, 0, 0, 0, 7]))
  const both = watching.taken()
  assert.equal(both.readInt32BE(8), 0xc0a1e5ce | 0)
  // Extended clipboard: capabilities, with news of text and room for nothing.
  assert.deepEqual([...both.subarray(12)], [6, 0, 0, 0, 255, 255, 255, 248, 9, 0, 0, 1, 0, 0, 0, 0])
})

const letter = (sign: string) => sign.charCodeAt(0)
const at = (buttons: number, y = 20) => Buffer.from([5, buttons, 0, 1, 0, y])
const press = (keysym: number, isDown = true) => {
  const message = Buffer.from([4, Number(isDown), 0, 0, 0, 0, 0, 0])
  message.writeUInt32BE(keysym, 4)
  return message
}

function ofLogin({ isStuck = true } = {}) {
  const passed: Buffer[] = []
  const state = { isStuck }
  const input = new Input({
    isReadOnly: false,
    isLoginStuck: () => state.isStuck,
    pass: (bytes) => passed.push(bytes),
  })
  input.take(opening)
  passed.length = 0
  const send = (...messages: Buffer[]) => {
    for (const message of messages) input.take(Buffer.from(message))
    return Buffer.concat(passed.splice(0))
  }
  return { send, state }
}

test('the link of a login changes nothing unless its flow waits for the person', () => {
  const { send, state } = ofLogin({ isStuck: false })
  assert.equal(send(key, placedKey, text, pointer(1, 1), pointer(1)).length, 0)
  assert.deepEqual(send(request), request)
  state.isStuck = true
  assert.deepEqual(send(key), key)
  const pressed = send(Buffer.from([5, 1, 0, 1, 0, 20]))
  assert.equal(pressed[1], 1)
  state.isStuck = false
  assert.deepEqual(send(press(65, false)), press(65, false), 'what is pressed is released')
  assert.equal(send(Buffer.from([5, 1, 0, 1, 0, 20]))[1], 0)
  assert.equal(send(Buffer.from([5, 1, 0, 1, 0, 20])).length, 0)
})

test('the link of a login types and clicks, and reaches no tab, menu, address bar or tool', () => {
  const [control, shift, alt, meta, escape] = [0xffe3, 0xffe1, 0xffe9, 0xffeb, 0xff1b]
  const isPassed = (keysym: number, ...held: number[]) => {
    const { send } = ofLogin()
    for (const each of held) send(press(each))
    return send(press(keysym)).length > 0
  }
  for (const keysym of [letter('a'), letter('@'), 0xff08, 0xff0d, 0xff09, 0xff51, 0xe9, 0x010020ac]) {
    assert.ok(isPassed(keysym), keysym.toString(16))
    assert.ok(isPassed(keysym, shift), keysym.toString(16))
  }
  for (const sign of 'acvxz') assert.ok(isPassed(letter(sign), control), sign)
  for (const sign of 'tnwlkrfjdhuopsgTNCIJ1+-') assert.ok(!isPassed(letter(sign), control), sign)
  for (const keysym of [alt, meta, 0xff67, ...[1, 5, 6, 10, 11, 12].map((f) => 0xffbd + f), 0x1008ff26]) {
    assert.ok(!isPassed(keysym), keysym.toString(16))
  }
  for (const keysym of [0xff09, 0xff0d, 0xff55, shift])
    assert.ok(!isPassed(keysym, control), keysym.toString(16))
  assert.ok(!isPassed(escape, shift), 'the task manager')
  assert.ok(!isPassed(control, letter('t')), 'a key that is held would repeat as a shortcut')
  assert.ok(!isPassed(control, shift))

  const { send } = ofLogin()
  assert.equal(send(placedKey).length, 0)
  assert.equal(send(at(0b111))[1], 1, 'only the left button')
  assert.equal(send(at(0))[1], 0)
  assert.equal(send(at(1, 0))[5], 8, 'not the topmost rows')
  send(at(0), press(control))
  assert.equal(send(at(1))[1] ?? 0, 0, 'no new tab by a click with Control')
  const encodings = Buffer.alloc(12)
  encodings[0] = 2
  encodings.writeUInt16BE(2, 2)
  encodings.writeInt32BE(7, 4)
  encodings.writeInt32BE(-258, 8)
  assert.deepEqual(send(encodings), Buffer.from([2, 0, 0, 1, 0, 0, 0, 7]), 'keys are judged by their symbol')
})
