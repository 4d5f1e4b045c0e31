import assert from 'node:assert/strict'
import test from 'node:test'
import { holdsAny, mask } from './mask.ts'

test('mask hides our values in text of the website, in upper and lower case', () => {
  const values = ['ada@example.com', 'S3cret (very)+']
  assert.equal(mask('No account for ADA@example.com', values), 'No account for •••')
  assert.equal(mask('Wrong: S3cret (very)+!', values), 'Wrong: •••!')
  assert.equal(mask('Nothing of ours', values), 'Nothing of ours')
})

test('mask hides the longest value first, so that no part of it remains', () => {
  assert.equal(mask('pass-word-2 was wrong', ['pass-word', 'pass-word-2']), '••• was wrong')
})

test('a value that is an ordinary word leaves the message of the website as it is', () => {
  const messages: [string, string[]][] = [
    ['Incorrect username or password. Please try again.', ['password', 'username', 'again', 'incorrect']],
    ['The e-mail or password you entered is wrong', ['wrong', 'e-mail', 'Password', 'entered']],
    ['That is not right', ['right', 'that']],
    [
      'Your account has been locked. Contact your administrator.',
      ['admin', 'account', 'administrator', 'locked'],
    ],
    ['Invalid credentials', ['invalid', 'credentials', 'INVALID']],
    ['Falsches Passwort. Bitte versuchen Sie es erneut.', ['passwort', 'falsch', 'bitte', 'erneut']],
    ['Identifiant ou mot de passe incorrect', ['passe', 'identifiant', 'incorrect']],
    ['Usuario o contraseña incorrectos', ['contraseña', 'usuario', 'incorrecto']],
    ['パスワードが正しくありません', ['パスワード']],
    ["L'utilisateur est inconnu", ['utilisateur', 'inconnu']],
  ]
  for (const [text, values] of messages) assert.equal(mask(text, values), text)
})

test('an ordinary word is hidden where the website quotes what was typed', () => {
  const echoes: [string, string][] = [
    ['No match for “ada” with password “password”.', 'No match for “•••” with password “•••”.'],
    ['{"name":"ada","pass":"password"}', '{"name":"•••","pass":"•••"}'],
    ['/help?name=ada&pass=password', '/help?name=•••&pass=•••'],
    ['Kennwort »password« ist falsch', 'Kennwort »•••« ist falsch'],
    ["User 'ada' (password)", "User '•••' (•••)"],
  ]
  for (const [text, masked] of echoes) assert.equal(mask(text, ['ada', 'password']), masked)
})

test('a word that is no ordinary one is hidden as a whole word, not within another', () => {
  assert.equal(mask('Unknown user: hunter', ['hunter']), 'Unknown user: •••')
  assert.equal(mask('hunter_2, "Hunter" and hunter2', ['hunter']), '•••_2, "•••" and •••2')
  assert.equal(
    mask('Welcome to Hunterland, the Canada of hunters', ['hunter', 'ada']),
    'Welcome to Hunterland, the Canada of hunters',
  )
  assert.equal(mask('Wrong password', ['pass', 'wor']), 'Wrong password')
  assert.equal(mask('Приветосик, привет', ['привет']), 'Приветосик, •••')
})

test('everything else is hidden wherever it stands', () => {
  assert.equal(mask('xhunter2x', ['hunter2']), 'x•••x')
  assert.equal(mask('ref99730415', ['730415']), 'ref99•••')
  assert.equal(mask('xcorrecthorsebatteryx', ['correcthorsebattery']), 'x•••x')
  assert.equal(mask('you typed correct  horse battery', ['correct horse battery']), 'you typed •••')
  // Several ordinary words together are a phrase of somebody.
  assert.equal(mask('Please try again', ['try again']), 'Please •••')
  assert.equal(mask('前密语后', ['密语']), '前密语后')
  assert.equal(mask('前我的密语后', ['我的密语']), '前•••后')
})

test('holdsAny tells whether a text has a value of ours', () => {
  assert.equal(holdsAny('Password', ['password']), false)
  assert.equal(holdsAny('Password of hunter', ['hunter']), true)
})
