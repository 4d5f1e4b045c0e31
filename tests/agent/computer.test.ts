// Mouse, keyboard, screen and clipboard, as a page sees them. The same tests run on a display and on a headless
// browser.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothKinds } from '../fixtures/agent/both-kinds.ts'
import { decodePng, type Decoded } from '../fixtures/decode-png.ts'
import { EventPage } from '../fixtures/agent/event-page.ts'

const TEXTS = {
  'Latin with accents': 'Árvíztűrő tükörfúrógép, naïve façade – “ß” Œuvre ÿ Ð þ',
  Greek: 'Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία',
  Cyrillic: 'Съешь же ещё этих мягких французских булок, да выпей чаю. Ґанок їжак',
  Arabic: 'نص حكيم له سر قاطع وذو شأن عظيم',
  Hebrew: 'דג סקרן שט לו בים זך, שָׁלוֹם',
  Devanagari: 'ऋषियों को सताने वाले दुष्ट',
  Thai: 'เป็นมนุษย์สุดประเสริฐเลิศคุณค่า',
  CJK: '視野無限廣,窗外有藍天。いろはにほへと チリヌル 키스의 고유조건은 𠮷野家',
  emoji: '😀🏳️‍🌈👨‍👩‍👧‍👦🇪🇺👍🏽',
  'combining marks': 'e\u0301 a\u0323\u0302 Z\u0351\u036b\u0343\u036a',
  ASCII: ' !"#$%&\'()*+,-./0123456789:;<=>?@ABCXYZ[\\]^_`abcxyz{|}~',
}

onBothKinds((under) => {
  let page: EventPage
  before(async () => {
    page = await EventPage.open(await under.agent.openCdp(), under.browser)
    // Chromium begins with the focus in its address bar.
    await act('click_mouse', page.at(5, 5))
    await page.seen(['click'], 1)
  })

  async function call(operation: string, body?: object) {
    return under.agent.call('POST', `/control/computer/${operation}`, body)
  }

  async function act(operation: string, body?: object): Promise<void> {
    const answer = await call(operation, body)
    assert.equal(answer.status, 204, JSON.stringify(answer.body))
  }

  async function refused(operation: string, body: object): Promise<string> {
    const answer = await call(operation, body)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    const { code, message } = answer.body as { code: string; message: string }
    assert.equal(code, 'bad_request')
    return message
  }

  async function capture(body: object = {}) {
    const { status, bytes } = await under.agent.callForBytes('POST', '/control/computer/screenshot', body)
    assert.equal(status, 200, bytes.toString())
    return decodePng(bytes)
  }

  /** A change of the page is on the screen a frame or two later. */
  async function captureWhen(isThere: (picture: Decoded) => boolean, body: object = {}) {
    const deadline = performance.now() + 5_000
    for (;;) {
      const picture = await capture(body)
      if (isThere(picture)) return picture
      assert.ok(performance.now() < deadline, 'the change did not appear on the screen in time')
    }
  }

  test('a click is trusted and at the requested point', async () => {
    await page.forget()
    await act('click_mouse', page.at(300, 400))
    const seen = await page.seen(['mousedown', 'mouseup', 'click'], 3)
    assert.deepEqual(
      seen.map(({ kind, isTrusted, clientX, clientY, button, detail }) => [
        kind,
        isTrusted,
        clientX,
        clientY,
        button,
        detail,
      ]),
      ['mousedown', 'mouseup', 'click'].map((kind) => [kind, true, 300, 400, 0, 1]),
    )
    assert.deepEqual((await call('get_mouse_position')).body, page.at(300, 400))
  })

  test('every button can be clicked twice and three times, with keys held', async () => {
    for (const [button, number] of Object.entries({ left: 0, middle: 1, right: 2 })) {
      await page.forget()
      await act('click_mouse', {
        ...page.at(300, 500),
        button,
        num_clicks: 2,
        hold_keys: ['Shift', 'ctrl'],
      })
      const seen = await page.seen(['mousedown'], 2)
      assert.deepEqual(
        seen.map((each) => [each.button, each.detail, each.modifiers]),
        [
          [number, 1, 'ctrl+shift'],
          [number, 2, 'ctrl+shift'],
        ],
      )
      // The keys are released.
      const [up] = (await page.seen(['keyup'], 2)).toReversed()
      assert.equal(up!.modifiers, '')
    }
    for (const [button, number] of Object.entries({ back: 3, forward: 4 })) {
      await page.evaluate(`addEventListener('mouseup', (event) => event.preventDefault(), { once: true })`)
      await page.forget()
      await act('click_mouse', { ...page.at(300, 500), button })
      assert.equal((await page.seen(['mousedown'], 1))[0]!.button, number)
    }
    await page.forget()
    await act('click_mouse', { ...page.at(310, 500), num_clicks: 3 })
    const clicks = await page.seen(['click', 'dblclick'], 4)
    assert.deepEqual(
      clicks.map(({ kind, detail }) => [kind, detail]),
      [
        ['click', 1],
        ['click', 2],
        ['dblclick', 2],
        ['click', 3],
      ],
    )
  })

  test('a pressed button stays pressed until it is released', async () => {
    await page.forget()
    await act('click_mouse', { ...page.at(100, 300), click_type: 'down' })
    await act('move_mouse', { ...page.at(120, 310), smooth: false })
    await page.until('seen.some(({ kind, clientX }) => kind === "move" && clientX === 120)')
    await act('click_mouse', { ...page.at(130, 320), click_type: 'up' })
    const seen = (await page.seen(['mousedown', 'mouseup'], 2)).map(({ kind, clientX }) => [kind, clientX])
    assert.deepEqual(seen, [
      ['mousedown', 100],
      ['mouseup', 130],
    ])
    const moves = await page.seen(['move'], 2)
    assert.ok(moves.some(({ clientX, buttons }) => clientX === 120 && buttons === 1))
  })

  test('by default, a move follows a curve and takes the requested time', async () => {
    await act('move_mouse', { ...page.at(10, 10), smooth: false })
    await page.until('seen.some(({ kind, clientX }) => kind === "move" && clientX === 10)')
    await page.forget()
    const began = performance.now()
    await act('move_mouse', { ...page.at(500, 300), duration_ms: 300, hold_keys: ['Alt_L'] })
    assert.ok(performance.now() - began >= 290)
    await page.until('seen.some(({ clientX, clientY }) => clientX === 500 && clientY === 300)')
    const moves = await page.seen(['move'], 5)
    assert.ok(moves.every(({ modifiers, isTrusted }) => modifiers === 'alt' && isTrusted))
    const bent = moves.some(
      ({ clientX, clientY }) => Math.abs(clientY - 10 - ((clientX - 10) * 290) / 490) > 1,
    )
    assert.ok(bent, 'not straight')
    await page.forget()
    await act('move_mouse', { ...page.at(20, 20), smooth: false })
    await page.until('seen.some(({ clientX }) => clientX === 20)')
    assert.equal((await page.seen(['move'], 1)).length, 1)
  })

  test('the wheel turns down and right by ticks', async () => {
    await page.evaluate('scrollTo(0, 0)')
    await page.forget()
    await act('scroll', { ...page.at(50, 400), delta_y: 2, delta_x: 1, hold_keys: ['Alt_L'] })
    // Chromium may merge ticks that come at once into one or two events. The last event is the one to the right.
    await page.until('seen.some(({ deltaX }) => deltaX > 0)')
    const seen = await page.seen(['wheel'], 2)
    const sum = (axis: 'deltaX' | 'deltaY') => seen.reduce((total, each) => total + each[axis], 0)
    assert.deepEqual([sum('deltaX'), sum('deltaY')], [120, 240])
    assert.ok(seen.every(({ modifiers, isTrusted }) => modifiers === 'alt' && isTrusted))
    assert.ok(seen[0]!.deltaY > 0 && seen.at(-1)!.deltaX > 0, 'down first')
    await page.forget()
    await act('scroll', { ...page.at(50, 400), delta_y: -2 })
    await page.seen(['wheel'], 1)
    await page.until('scrollY === 0')
    assert.match(await refused('scroll', { x: 1, y: 1 }), /both 0/)
  })

  test('a drag presses at its first point, moves through all points, and releases at the last', async () => {
    const path = [
      [100, 450],
      [200, 480],
      [300, 450],
    ].map(([x, y]) => Object.values(page.at(x!, y!)))
    // Moves that come while Chromium is busy become one. On a busy machine that can be a tenth of a second.
    for (const way of [{ duration_ms: 800 }, { smooth: false, steps_per_segment: 2, step_delay_ms: 300 }]) {
      await page.forget()
      await act('drag_mouse', { path, delay: 20, hold_keys: ['shift'], ...way })
      const [down, up] = await page.seen(['mousedown', 'mouseup'], 2)
      assert.deepEqual([down!.clientX, down!.clientY, down!.modifiers], [100, 450, 'shift'])
      assert.deepEqual([up!.clientX, up!.clientY, up!.modifiers], [300, 450, 'shift'])
      const moves = (await page.seen(['move'], 3)).filter(({ buttons }) => buttons === 1)
      // There is one event per frame, so the page does not see every point of a smooth drag.
      assert.ok(moves.length >= 3)
      if (!way.duration_ms)
        assert.ok(moves.some(({ clientX, clientY }) => clientX === 200 && clientY === 480))
    }
  })

  test('a drag is released when its caller leaves', async () => {
    await page.forget()
    const leaving = new AbortController()
    const path = [
      [100, 450],
      [300, 450],
    ].map(([x, y]) => Object.values(page.at(x!, y!)))
    const drag = under.agent.callForBytes(
      'POST',
      '/control/computer/drag_mouse',
      { path, duration_ms: 10_000, hold_keys: ['shift'] },
      { signal: leaving.signal },
    )
    await page.seen(['mousedown'], 1)
    leaving.abort()
    await assert.rejects(drag)
    const [up] = await page.seen(['mouseup'], 1)
    assert.ok(up!.clientX < 300)
    const keys = await page.seen(['keyup'], 1)
    assert.equal(keys.at(-1)!.key, 'Shift')
  })

  test('text of many scripts arrives exactly in every kind of field', async () => {
    for (const field of ['input', 'area', 'rich'] as const) {
      for (const [script, text] of Object.entries(TEXTS)) {
        await page.focus(field)
        await act('type', { text })
        assert.equal(await page.textOf(field, text.length), text, `${script} in ${field}`)
      }
    }
    const lines = 'one\n\ttwo\r\nthree\n'
    await page.focus('area')
    await act('type', { text: lines })
    assert.equal(await page.textOf('area', 15), 'one\n\ttwo\nthree\n')
  })

  test('Caps Lock does not change what is typed', async () => {
    await page.focus('input')
    await act('press_key', { keys: ['Caps_Lock'] })
    await act('type', { text: 'aB cD' })
    await act('press_key', { keys: ['Caps_Lock'] })
    assert.equal(await page.textOf('input', 5), 'aB cD')
  })

  test('500 characters without a delay arrive in order', async () => {
    const few = Array.from({ length: 500 }, (_none, index) =>
      String.fromCharCode(33 + ((index * 7) % 94)),
    ).join('')
    const many = Array.from({ length: 500 }, (_none, index) =>
      String.fromCodePoint(0x4e00 + index * 37),
    ).join('')
    for (const text of [few, many]) {
      await page.focus('area')
      await act('type', { text })
      assert.equal(await page.textOf('area', text.length), text)
    }
  })

  test('a delay applies between characters, and smooth typing corrects its mistakes', async () => {
    await page.focus('input')
    await page.forget()
    const began = performance.now()
    await act('type', { text: 'abc', delay: 400 })
    assert.ok(performance.now() - began >= 790)
    const [a, b, c] = await page.seen(['keydown'], 3)
    assert.ok(b!.at - a!.at > 100 && c!.at - b!.at > 100)
    await page.focus('input')
    await act('type', { text: 'Two words.', smooth: true, typo_chance: 0.1 })
    assert.equal(await page.textOf('input', 10), 'Two words.')
  })

  test('keys can be named as in X, as in xdotool or by their character, alone and combined', async () => {
    const keys: Record<string, string> = {
      Return: 'Enter',
      BackSpace: 'Backspace',
      Page_Down: 'PageDown',
      Prior: 'PageUp',
      Left: 'ArrowLeft',
      KP_5: '5',
      F2: 'F2',
      x: 'x',
      exclam: '!',
      é: 'é',
      Greek_omega: 'ω',
    }
    await page.focus('input')
    await page.forget()
    await act('press_key', { keys: Object.keys(keys) })
    // Shift is pressed for some of them, so a count would not say that all have come.
    await page.until(`seen.some(({ kind, key }) => kind === 'keydown' && key === 'ω')`)
    const seen = (await page.seen(['keydown'], 11)).filter(({ key }) => key !== 'Shift')
    assert.deepEqual(
      seen.map(({ key }) => key),
      Object.values(keys),
    )
    await page.forget()
    await act('press_key', { keys: ['ctrl+shift+ArrowRight'], hold_keys: ['alt'] })
    const [last] = (await page.seen(['keydown'], 4)).toReversed()
    assert.deepEqual([last!.key, last!.modifiers], ['ArrowRight', 'ctrl+shift+alt'])
    assert.deepEqual(
      (await page.seen(['keyup'], 4)).map(({ key }) => key),
      ['ArrowRight', 'Shift', 'Control', 'Alt'],
    )
    assert.match(await refused('press_key', { keys: ['ctrl+Nonsense'] }), /"Nonsense"/)
  })

  test('keys with a duration are held together for that time', async () => {
    await page.focus('input')
    await page.forget()
    const began = performance.now()
    await act('press_key', { keys: ['a', 'b'], duration: 800 })
    assert.ok(performance.now() - began >= 790)
    // Held keys repeat, so there may be any number of keydowns.
    const ups = await page.seen(['keyup'], 2)
    const downs = (await page.seen(['keydown'], 1)).filter(({ key }) => key)
    assert.deepEqual(ups.map(({ key }) => key).toSorted(), ['a', 'b'])
    // A busy X server may be late for the first key; without the duration, all four come within milliseconds.
    assert.ok(ups[0]!.at - downs[0]!.at >= 200)
  })

  test('the clipboard is shared with pages', async () => {
    const text = 'Zwölf Boxkämpfer\n漢字 👍'
    await page.focus('area')
    await act('clipboard/write', { text })
    assert.deepEqual((await call('clipboard/read')).body, { text })
    await act('press_key', { keys: ['ctrl+v'] })
    assert.equal(await page.textOf('area', text.length), text)
    await page.focus('input')
    await act('type', { text: 'from the page' })
    await page.textOf('input', 13)
    await act('press_key', { keys: ['ctrl+a', 'ctrl+c'] })
    await page.seen(['copy'], 1)
    assert.deepEqual((await call('clipboard/read')).body, { text: 'from the page' })
  })

  test('a long text passes through the clipboard both ways', async () => {
    const line = 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich\n'
    // Nearly the maximum of the API; a page may copy more.
    const text = line.repeat(1_500)
    const copied = line.repeat(2_500).toLowerCase()
    await page.focus('area')
    await act('clipboard/write', { text })
    await act('press_key', { keys: ['ctrl+v'] })
    assert.equal(await page.textOf('area', text.length), text)
    await page.forget()
    await page.evaluate(`area.value = ${JSON.stringify(copied)}; area.select()`)
    await act('press_key', { keys: ['ctrl+c'] })
    await page.seen(['copy'], 1)
    assert.deepEqual((await call('clipboard/read')).body, { text: copied })
  })

  test('a screenshot shows the screen or a region of it', async () => {
    const corner = page.at(40, 40)
    await page.evaluate('scrollTo(0, 0)')
    const whole = await captureWhen((picture) => picture.at(corner.x, corner.y) === 0xff0000)
    assert.deepEqual([whole.width, whole.height], [1280, 720])
    assert.equal(whole.at(corner.x - 1, corner.y), 0xffffff)
    assert.equal(whole.at(corner.x + 59, corner.y + 49), 0xff0000)
    assert.equal(whole.at(corner.x + 60, corner.y + 49), 0xffffff)
    const part = await capture({ region: { x: corner.x - 1, y: corner.y - 1, width: 62, height: 20 } })
    assert.deepEqual([part.width, part.height], [62, 20])
    assert.deepEqual(
      [part.at(0, 0), part.at(1, 1), part.at(60, 5), part.at(61, 5)],
      [0xffffff, 0xff0000, 0xff0000, 0xffffff],
    )
    // A region is in screen coordinates, so scrolling the page does not change it.
    await page.evaluate('scrollTo(0, 45)')
    const region = { ...page.at(40, 0), width: 10, height: 60 }
    const scrolled = await captureWhen((picture) => picture.at(0, 0) === 0xff0000, { region })
    assert.deepEqual([scrolled.at(9, 44), scrolled.at(9, 45)], [0xff0000, 0xffffff])
    await page.evaluate('scrollTo(0, 0)')
  })

  test('points outside the screen are refused, and the error names the size of the screen', async () => {
    for (const point of [
      { x: 1280, y: 0 },
      { x: 0, y: 720 },
      { x: 32_767, y: 1 },
    ]) {
      for (const operation of ['click_mouse', 'move_mouse', 'scroll']) {
        const message = await refused(operation, {
          ...point,
          ...(operation === 'scroll' && { delta_y: 1 }),
        })
        assert.equal(message, 'coordinates exceed screen bounds (max: 1280x720)')
      }
      await refused('drag_mouse', {
        path: [
          [1, 1],
          [point.x, point.y],
        ],
      })
    }
    assert.match(await refused('screenshot', { region: { x: 1270, y: 0, width: 11, height: 1 } }), /1280x720/)
  })

  test('actions that would take too long are refused, and the error names the limit', async () => {
    assert.match(await refused('type', { text: 'x'.repeat(2_000), delay: 100 }), /55 s/)
    assert.match(await refused('type', { text: 'x'.repeat(2_000), smooth: true }), /55 s/)
    const path = Array.from({ length: 100 }, (_none, index) => [index, index])
    assert.match(await refused('drag_mouse', { path, smooth: false, step_delay_ms: 1_000 }), /55 s/)
    const sleep = { type: 'sleep', sleep: { duration_ms: 30_000 } }
    assert.match(await refused('batch', { actions: [sleep, sleep] }), /55 s/)
  })

  test('the cursor can be hidden and shown repeatedly', async () => {
    for (const hidden of [true, true, false, false]) {
      const answer = await call('cursor', { hidden })
      assert.deepEqual([answer.status, answer.body], [200, { ok: true }])
    }
  })

  test('a batch runs in order and stops at the first action that fails', async () => {
    await page.focus('input')
    await page.forget()
    const click = { type: 'click_mouse', click_mouse: page.at(300, 50) }
    const actions = [
      click,
      { type: 'type_text', type_text: { text: 'ab' } },
      { type: 'sleep', sleep: { duration_ms: 20 } },
      { type: 'press_key', press_key: { keys: ['c'] } },
      { type: 'set_cursor', set_cursor: { hidden: false } },
    ]
    await act('batch', { actions })
    assert.equal(await page.textOf('input', 3), 'abc')
    const wrong = { type: 'click_mouse', click_mouse: { x: 5_000, y: 1 } }
    const later = { type: 'type_text', type_text: { text: 'never' } }
    const message = await refused('batch', {
      actions: [{ type: 'type_text', type_text: { text: 'd' } }, wrong, later],
    })
    assert.equal(message, 'actions[1] (click_mouse): coordinates exceed screen bounds (max: 1280x720)')
    assert.equal(await page.textOf('input', 4), 'abcd')
    // A batch with a malformed action does not begin.
    assert.equal(
      await refused('batch', { actions: [later, { type: 'scroll' }] }),
      'actions[1] (scroll): "scroll" with its parameters is missing',
    )
    assert.match(
      await refused('batch', { actions: [later, { ...click, type: 'sleep' }] }),
      /^actions\[1\] \(sleep\): /,
    )
    assert.equal(await page.textOf('input', 4), 'abcd')
  })

  test('no other action runs between the actions of a batch', async () => {
    await page.focus('input')
    await page.forget()
    const slow = ['a', 'b', 'c'].map((text) => ({
      type: 'type_text',
      type_text: { text: text.repeat(3), delay: 20 },
    }))
    const batch = act('batch', { actions: slow })
    await page.seen(['keydown'], 1)
    await Promise.all([batch, act('type', { text: '123' }), act('type', { text: '456' })])
    assert.match(await page.textOf('input', 15), /^aaabbbccc(123456|456123)$/)
  })
})
