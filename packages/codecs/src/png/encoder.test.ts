import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePng } from '../../../../tests/fixtures/decode-png.ts'
import { PngEncoder } from './encoder.ts'

interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint32Array
}

/** A sequence of numbers below 2^32 that is the same in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return (state ^ (state >>> 13)) >>> 0
  }
}

function picture(width: number, height: number, colour: (x: number, y: number) => number): Picture {
  const pixels = new Uint32Array(width * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels[y * width + x] = (colour(x, y) | 0xff000000) >>> 0
  }
  return { width, height, pixels }
}

async function assertSame(name: string, original: Picture, kept?: PngEncoder): Promise<number> {
  const encoder = kept ?? (await PngEncoder.open(original))
  encoder.room(original).set(new Uint8Array(original.pixels.buffer))
  const png = await encoder.encode(original)
  const decoded = decodePng(png)
  assert.equal(decoded.width, original.width, name)
  assert.equal(decoded.height, original.height, name)
  const { width } = original
  const wrong = original.pixels.findIndex(
    (pixel, index) => decoded.at(index % width, Math.floor(index / width)) !== (pixel & 0xffffff),
  )
  assert.equal(wrong, -1, `${name}: pixel ${wrong} differs`)
  return png.length
}

test('pictures of all kinds are decoded to the same pixels', async () => {
  const random = numbers(1)
  const noise = picture(500, 300, () => random())
  await assertSame(
    'one pixel',
    picture(1, 1, () => 0x123456),
  )
  await assertSame(
    'one column',
    picture(1, 50, (_x, y) => y * 70_000),
  )
  await assertSame(
    'two columns',
    picture(2, 50, (x, y) => (x ^ y) * 0x10101),
  )
  await assertSame(
    'one row',
    picture(700, 1, (x) => x >> 3),
  )
  await assertSame(
    'flat',
    picture(960, 540, () => 0xffffff),
  )
  await assertSame(
    'black',
    picture(333, 77, () => 0),
  )
  await assertSame('noise', noise)
  await assertSame(
    'across',
    picture(640, 400, (x) => x * 300),
  )
  await assertSame(
    'down',
    picture(640, 400, (_x, y) => y * 300),
  )
  await assertSame(
    'both',
    picture(640, 400, (x, y) => x * 300 + y * 77),
  )
  await assertSame(
    'few colours',
    picture(640, 400, () => random() % 5),
  )
  await assertSame(
    'the widest',
    picture(7680, 40, (x, y) => (((x >> 4) * (y >> 2)) & 0xff) * 0x10101),
  )
  await assertSame(
    'a photograph within a page',
    picture(640, 400, (x, y) => {
      if (y < 100 || y > 300) return x % 60 === 0 ? 0x202020 : 0xffffff
      return x < 500 ? noise.pixels[y * 500 - 50_000 + x]! & 0xffffff : 0xffffff
    }),
  )
})

test('any mixture of runs, repetitions and new pixels is decoded to the same pixels', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = numbers(seed)
    const width = 1 + (random() % 400)
    const height = 1 + (random() % 60)
    const pixels = new Uint32Array(width * height)
    for (let at = 0; at < pixels.length;) {
      const length = 1 + (random() % (seed % 2 ? 400 : 12))
      const way = random() % 5
      const back = 1 + (random() % Math.max(1, at))
      const colour = random()
      for (let end = Math.min(pixels.length, at + length); at < end; at++) {
        const value =
          way === 0
            ? random()
            : way === 1
              ? colour
              : way === 2 && at >= width
                ? pixels[at - width]!
                : way === 3 && at >= back
                  ? pixels[at - back]!
                  : (pixels[at - 1] ?? 0)
        pixels[at] = (value | 0xff000000) >>> 0
      }
    }
    await assertSame(`seed ${seed}`, { width, height, pixels })
  }
})

test('an encoder keeps nothing of a previous picture, larger or smaller', async () => {
  const random = numbers(7)
  const large = picture(1280, 720, (x, y) => (x * y) >> 4)
  const encoder = await PngEncoder.open(large)
  const small = picture(333, 200, () => random())
  assert.ok(encoder.hasRoomFor(small))
  assert.ok(!encoder.hasRoomFor({ width: 1920, height: 1080 }))
  const size = await assertSame('large', large, encoder)
  await assertSame('small', small, encoder)
  assert.equal(await assertSame('large again', large, encoder), size)
})

test('noise on the widest screen, where every pixel is new, is encoded', async () => {
  const random = numbers(3)
  await assertSame(
    'noise',
    picture(7680, 40, () => random()),
  )
})

test('a picture larger than the largest screen is refused, by a new encoder and by an existing one', async () => {
  const encoder = await PngEncoder.open({ width: 7680, height: 4320 })
  for (const large of [
    { width: 20_001, height: 1 },
    { width: 7681, height: 4320 },
    { width: 65_535, height: 65_535 },
  ]) {
    await assert.rejects(PngEncoder.open(large), /too large; ask for a region/)
    assert.throws(() => encoder.hasRoomFor(large), /too large/)
  }
  const random = numbers(5)
  await assertSame(
    'the widest row',
    picture(20_000, 3, () => random()),
    encoder,
  )
  await assertSame(
    'the widest row, with the largest differences',
    picture(20_000, 3, (x) => (255 - (x % 256)) * 0x10101),
    encoder,
  )
})

test('an empty page is small', async () => {
  const size = await assertSame(
    'empty',
    picture(960, 540, (_x, y) => (y < 87 ? 0xdfe1e5 : 0xffffff)),
  )
  assert.ok(size < 12_000, String(size))
})
