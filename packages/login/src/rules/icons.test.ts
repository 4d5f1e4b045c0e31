// Controls without words.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { element, field, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { readPage } from './read-page.ts'

const icon = (given: Partial<ElementSnapshot>) =>
  element({ tag: 'button', type: 'button', box: [900, 10, 32, 32], region: 'header', group: 0, ...given })

test('of the icons in a header, the person comes first, and the cart never', () => {
  const elements = [
    icon({ icon: 'icon-search', id: 'search' }),
    icon({ icon: '', id: 'x1' }),
    icon({ icon: 'fa fa-user-circle', id: 'person' }),
    icon({ icon: 'cart.svg', id: 'cart' }),
    icon({ icon: 'bi bi-box-arrow-in-right', id: 'in', region: 'main' }),
    icon({ tag: 'other', icon: 'globe', id: 'language' }),
  ]
  const { loginIcons, loginLinks, signs } = readPage(page({ elements }))
  assert.deepEqual(
    loginIcons.map(({ id }) => id),
    ['in', 'person', 'x1'],
  )
  // A signed-in page has the same icons.
  assert.deepEqual(loginLinks, [])
  assert.equal(signs.isSignedOut, false)
})

test('a control with words is no icon, whatever its picture is', () => {
  const elements = [icon({ text: 'Guests', icon: 'user' }), icon({ label: 'Crew', icon: 'user' })]
  assert.deepEqual(readPage(page({ elements })).loginIcons, [])
})

test('an arrow submits a form, and an eye does not', () => {
  const inForm = { region: 'main', group: 1 }
  for (const [eye, arrow] of [
    [icon({ ...inForm, icon: 'icon-eye' }), icon({ ...inForm, icon: 'arrow-right' })],
    [
      icon({ ...inForm, class_name: 'toggle-visibility' }),
      icon({ ...inForm, tag: 'other', icon: 'chevron' }),
    ],
    [icon({ ...inForm, icon: 'icon-eye' }), icon({ ...inForm })],
    [icon({ ...inForm, icon: 'icon-info' }), icon({ ...inForm, type: 'submit' })],
  ] as const) {
    const { form } = readPage(page({ elements: [field({ label: 'Username' }), password(), eye, arrow] }))
    assert.equal(form?.submit?.ref, arrow.ref, `${eye.icon} ${arrow.icon}`)
  }
})
