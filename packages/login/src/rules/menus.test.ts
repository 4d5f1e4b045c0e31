// Menus that have nothing to do with the login are never offered as ways to sign in.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import {
  button,
  element,
  field,
  link,
  page,
  password,
  type GivenPage,
} from '../../../../tests/fixtures/page-snapshots.ts'
import { readPage } from './read-page.ts'

const offered = (given: GivenPage) =>
  readPage(page(given)).choices.map(({ kind, label }) => `${kind} ${label}`)

const languages =
  'Bokmål Nynorsk Sámegiella Dansk Deutsch Svenska Suomi Español Français Italiano Nederlands Lëtzebuergesch Čeština Slovenščina Lietuvių Hrvatski Magyar Polski Português Türkçe 日本語 简体中文 Русский Eesti עברית Indonesia Srpski Latviešu Română Euskara'.split(
    ' ',
  )
const languageLinks = (given: Partial<ElementSnapshot> = {}) =>
  languages.map((name, index) =>
    link(
      name,
      `https://id.example.com/select?language=${'no nn se da de sv fi es fr it nl lb cs sl lt hr hu pl pt tr ja zh ru et he id sr lv ro eu'.split(' ')[index]}`,
      {
        group: 0,
        region: '',
        ...given,
      },
    ),
  )

const source = (text: string) =>
  element({ tag: 'input', type: 'submit', name: 'source', text, group: 1, region: '' })

test('an identity source is chosen from its list, and not from thirty languages', () => {
  for (const [heading, first, second] of [
    ['Select your authentication source', 'Staff', 'Students'],
    ['Authentifizierungsquelle auswählen', 'Mitarbeitende', 'Studierende'],
    ["Choisissez votre source d'authentification", 'Personnel', 'Étudiants'],
    ['Selecciona el origen de autenticación', 'Personal', 'Estudiantes'],
    ['Выберите источник аутентификации', 'Сотрудники', 'Студенты'],
    ['認証ソースを選択', '職員', '学生'],
  ] as const) {
    const given = { headings: [heading], text: heading, title: heading }
    const elements = [...languageLinks(), source(first), source(second)]
    assert.deepEqual(offered({ ...given, elements }), [`account ${first}`, `account ${second}`], heading)
  }
})

const menus: Record<string, () => ElementSnapshot[]> = {
  languages: () => languageLinks(),
  'languages without telling addresses': () =>
    languages.map((name) => button(name, { type: 'button', group: 0, region: '' })),
  'codes of languages': () =>
    ['DE', 'FR', 'IT', 'EN'].map((code) =>
      link(code, `https://www.example.com/${code.toLowerCase()}/login`, { group: 0 }),
    ),
  'another language': () => [
    link('日本語で表示', 'https://www.example.com/anmelden', { group: 0, data: 'hreflang=ja lang=ja' }),
  ],
  currencies: () =>
    ['EUR €', 'USD $', 'Pound Sterling', 'CHF'].map((text) => button(text, { type: 'button', group: 0 })),
  countries: () =>
    ['Germany', 'France', 'Norway', 'Türkiye', 'Japan'].map((text) =>
      link(text, `https://www.example.com/?c=${text}`, { group: 0 }),
    ),
  themes: () =>
    ['Light', 'Dark', 'System'].map((text) =>
      element({ tag: 'other', role: 'menuitemradio', text, group: 0 }),
    ),
  'a cookie banner': () => [
    button('Accept all', { type: 'button', group: 0, class_name: 'cookie-accept' }),
    button('Only necessary cookies', { type: 'button', group: 0, class_name: 'cookie-reject' }),
  ],
  footers: () =>
    ['Imprint', 'Accessibility', 'Select theme'].map((text) =>
      link(text, `https://www.example.com/${text}`, { group: 0, region: 'footer' }),
    ),
}

for (const [name, menu] of Object.entries(menus)) {
  test(`${name} are not ways to sign in`, () => {
    const text = 'Choose an account\nThis site uses cookies'
    const given = { headings: ['Choose an account'], text, title: 'Choose an account' }
    const accounts = ['Ada ada@example.com', 'Work ada@work.example'].map((each) => source(each))
    assert.deepEqual(offered({ ...given, elements: [...menu(), ...accounts] }), [
      'account Ada ada@example.com',
      'account Work ada@work.example',
    ])
    const form = [field({ label: 'Username' }), password(), button('Log in')]
    const { form: read, choices, loginLinks } = readPage(page({ elements: [...menu(), ...form] }))
    assert.deepEqual(choices, [])
    assert.deepEqual(loginLinks, [])
    assert.equal(read?.submit?.text, 'Log in')
  })
}

test('accounts named like a language or a country stay, and so does the way to another account', () => {
  const elements = [
    source('Norwegian'),
    source('Ada Harbour ada@example.com'),
    button('Use another account', { type: 'button', group: 0 }),
  ]
  assert.deepEqual(offered({ headings: ['Choose an account'], text: 'Choose an account', elements }), [
    'account Norwegian',
    'account Ada Harbour ada@example.com',
    'account Use another account',
  ])
})

test('a country is asked for if the page asks for nothing else', () => {
  const elements = ['Norway', 'Sweden', 'Denmark'].map((text) =>
    link(text, `https://www.example.com/to?site=${text}`, { group: 0 }),
  )
  const given = { headings: ['Select your country'], text: 'Select your country to log in to your account' }
  assert.deepEqual(offered({ ...given, elements }), ['account Norway', 'account Sweden', 'account Denmark'])
})

test('a select of languages is not a question', () => {
  const select = element({
    tag: 'select',
    name: 'lang',
    options: [
      { value: 'de', label: 'Deutsch' },
      { value: 'en', label: 'English' },
      { value: 'fr', label: 'Français' },
    ],
    group: 0,
  })
  assert.deepEqual(offered({ elements: [select] }), [])
  const factory = {
    ...select,
    options: [
      { value: '1', label: 'North yard' },
      { value: '2', label: 'South yard' },
    ],
  }
  assert.deepEqual(offered({ elements: [factory] }), ['other North yard', 'other South yard'])
})
