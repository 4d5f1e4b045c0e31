// Small pictures of what the session shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { jpegSize } from '@berth/codecs/video/jpeg-size'
import { onBothKinds } from '../fixtures/agent/both-kinds.ts'
import { evaluate } from '../fixtures/agent/page.ts'
import { isNear, jpegColour } from '../fixtures/jpeg-colour.ts'
import { previewOf, type Shown } from '../fixtures/agent/preview.ts'

const COLOURS = {
  red: [255, 0, 0],
  blue: [0, 0, 255],
  lime: [0, 255, 0],
  silver: [192, 192, 192],
} as const
type Colour = keyof typeof COLOURS

/** Below the middle, where a headful screen has no toolbar. */
function colourOf(jpeg: Buffer): number[] {
  const { width, height } = jpegSize(jpeg)!
  return jpegColour(jpeg, { x: (width >> 2) * 2, y: ((height * 3) >> 3) * 2 })
}

onBothKinds((kind) => {
  const look = (width: number, known?: string) => previewOf(kind.agent, { width, known })
  const paint = async (colour: Colour) => {
    using cdp = await kind.agent.openCdp()
    await evaluate(cdp, `document.documentElement.style.background = ${JSON.stringify(colour)}`)
  }

  /** Pictures follow what is painted, a moment later. */
  async function becomes(colour: Colour, width = 320): Promise<Shown> {
    let seen: number[] = []
    for (const until = performance.now() + 5_000; performance.now() < until; await pause(50)) {
      const shown = await look(width)
      assert.equal(shown.status, 200)
      seen = colourOf(shown.bytes)
      if (isNear(seen, COLOURS[colour])) return shown
    }
    return assert.fail(`${colour} is ${seen.join()}`)
  }

  /** A still page may be painted a second time. */
  async function untilStill(width = 320): Promise<Shown> {
    let shown = await look(width)
    for (let equal = 0; equal < 4; await pause(50)) {
      const next = await look(width)
      equal = next.version === shown.version ? equal + 1 : 0
      shown = next
    }
    return shown
  }

  test('a picture has the colours of the page and the wanted size', async (t) => {
    for (const [colour, width] of [
      ['red', 320],
      ['blue', 64],
      ['lime', 640],
      ['silver', 333],
    ] as const) {
      await paint(colour)
      const { bytes } = await becomes(colour, width)
      const size = jpegSize(bytes)!
      assert.equal(size.width, width)
      assert.ok(Math.abs(size.height - (width * 720) / 1280) <= 1, `${width}x${size.height}`)
      t.diagnostic(`${size.width}x${size.height}: ${bytes.length} bytes`)
    }
  })

  test('an unchanged picture is not sent again, and a changed one is', async () => {
    await paint('red')
    await becomes('red')
    const { version } = await untilStill()
    for (let count = 0; count < 3; count++) {
      const again = await look(320, version)
      assert.deepEqual([again.status, again.bytes.length], [204, 0])
    }
    await paint('blue')
    const changed = await becomes('blue')
    assert.notEqual(changed.version, version)
  })

  test('the page in front is shown', async () => {
    await paint('red')
    await becomes('red')
    using cdp = await kind.agent.openCdp()
    const url = 'data:text/html,<body style="background:lime">'
    const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', { url })
    await becomes('lime')
    await cdp.call('Target.closeTarget', { targetId })
    await becomes('red')
  })

  test('a page that comes to the front again is shown, also while the other one moves', async () => {
    using cdp = await kind.agent.openCdp()
    await paint('red')
    await becomes('red')
    const { targetInfos } = await cdp.call<{ targetInfos: { targetId: string; type: string }[] }>(
      'Target.getTargets',
    )
    const first = targetInfos.find(({ type }) => type === 'page')!.targetId
    const url = `data:text/html,<style>@keyframes a{to{transform:translateX(90vw)}}p{animation:a .5s infinite}</style>
      <body style="background:blue"><p>moves`
    const { targetId: second } = await cdp.call<{ targetId: string }>('Target.createTarget', { url })
    await becomes('blue')
    for (const [front, colour] of [
      [first, 'red'],
      [second, 'blue'],
      [first, 'red'],
    ] as const) {
      const began = performance.now()
      await cdp.call('Target.activateTarget', { targetId: front })
      await becomes(colour)
      assert.ok(performance.now() - began < 3_000)
    }
    await cdp.call('Target.closeTarget', { targetId: second })
    await becomes('red')
  })

  test('a page that hangs is shown', async () => {
    using cdp = await kind.agent.openCdp()
    await paint('silver')
    await becomes('silver')
    const hung = evaluate(cdp, 'for (const end = Date.now() + 4_000; Date.now() < end;);')
    await pause(300)
    for (const width of [320, 200]) {
      const began = performance.now()
      const shown = await look(width)
      assert.equal(shown.status, 200)
      assert.ok(isNear(colourOf(shown.bytes), COLOURS.silver))
      assert.ok(performance.now() - began < 2_000)
    }
    await hung
  })

  test('a screenshot of a client is whole and in full size while pictures are taken', async () => {
    using cdp = await kind.agent.openCdp()
    await paint('blue')
    const { targetInfos } = await cdp.call<{ targetInfos: { targetId: string; type: string }[] }>(
      'Target.getTargets',
    )
    const { targetId } = targetInfos.find(({ type }) => type === 'page')!
    const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    })
    const over = new AbortController()
    const looking = (async () => {
      while (!over.signal.aborted) assert.equal((await look(320)).status, 200)
    })()
    const sizes = new Set<string>()
    for (let count = 0; count < 10; count++) {
      const { data } = await cdp.call<{ data: string }>(
        'Page.captureScreenshot',
        { format: 'jpeg' },
        sessionId,
      )
      sizes.add(JSON.stringify(jpegSize(Buffer.from(data, 'base64'))))
    }
    over.abort()
    await looking
    const inner = (await evaluate(cdp, '({ height: innerHeight, width: innerWidth })')) as object
    assert.deepEqual([...sizes], [JSON.stringify(inner)])
  })

  test('many requests at once are answered from one picture, and a wrong width is refused', async () => {
    await paint('red')
    await becomes('red')
    const shown = await Promise.all(Array.from({ length: 20 }, () => look(320)))
    assert.deepEqual(new Set(shown.map(({ status }) => status)), new Set([200]))
    assert.ok(new Set(shown.map(({ version }) => version)).size <= 2)
    for (const width of [0, 63, 641, 1.5, NaN]) assert.equal((await look(width)).status, 400)
  })

  test('more widths than are kept are served one after another', async () => {
    for (const width of [100, 110, 120, 130, 140, 150, 100]) {
      assert.equal(jpegSize((await look(width)).bytes)!.width, width)
    }
  })
})
