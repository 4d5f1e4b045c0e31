import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keysymsOf, keysymsOfText } from './keysyms.ts'

const hex = (keysyms: readonly number[]) => keysyms.map((keysym) => keysym.toString(16)).join(' ')

test('keys are found by their X, xdotool and DOM names, and by character', () => {
  const names: Record<string, string> = {
    Return: 'ff0d',
    enter: 'ff0d',
    Page_Down: 'ff56',
    Next: 'ff56',
    PAGE_DOWN: 'ff56',
    PgDn: 'ff56',
    ArrowLeft: 'ff51',
    KP_Enter: 'ff8d',
    F24: 'ffd5',
    ISO_Left_Tab: 'fe20',
    XF86AudioPlay: '1008ff14',
    a: '61',
    A: '41',
    '0': '30',
    '%': '25',
    exclam: '21',
    eacute: 'e9',
    é: 'e9',
    EuroSign: '10020ac',
    U20AC: '10020ac',
    Greek_alpha: '10003b1',
    Cyrillic_ya: '100044f',
    '😀': '101f600',
    'ctrl+t': 'ffe3 74',
    'Ctrl+Shift+Tab': 'ffe3 ffe1 ff09',
    'alt+F4': 'ffe9 ffc1',
    '+': '2b',
    'ctrl++': 'ffe3 2b',
    'super+plus': 'ffeb 2b',
  }
  for (const [name, keysyms] of Object.entries(names)) assert.equal(hex(keysymsOf(name)), keysyms, name)
})

test('an unknown key is refused with its name', () => {
  for (const [combination, named] of Object.entries({
    nonsense: '"nonsense"',
    'ctrl+nonsense': '"nonsense"',
    constructor: '"constructor"',
    'a+': '"a\\+"',
    '+a': '"\\+a"',
    '++': '"\\+\\+"',
    'ctrl+++a': '',
    '\u0001': '',
  })) {
    assert.throws(
      () => keysymsOf(combination),
      { code: 'bad_request', message: new RegExp(named) },
      combination,
    )
  }
})

test('a text takes one key per character, and any newline takes one', () => {
  assert.equal(hex(keysymsOfText('aß\u0301😀')), '61 df 1000301 101f600')
  assert.equal(hex(keysymsOfText('a\nb\r\nc\rd\te')), '61 ff0d 62 ff0d 63 ff0d 64 ff09 65')
  assert.throws(() => keysymsOfText('a\u0000'), { code: 'bad_request', message: /U\+0000/ })
  assert.throws(() => keysymsOfText('a\u0085'), { code: 'bad_request', message: /U\+0085/ })
  assert.throws(() => keysymsOfText('\ud83d'), { code: 'bad_request', message: /whole characters/ })
})
