import { after, before } from 'node:test'
import { LoginUnderTest } from './login-under-test.ts'

/** One for all tests of a suite: what they need besides is a page of their own. */
export function sharedLogin(): () => LoginUnderTest {
  const endings: (() => Promise<void>)[] = []
  let login: LoginUnderTest | undefined
  before(async () => {
    login = await LoginUnderTest.start({ after: (end) => void endings.unshift(end) })
  })
  after(async () => {
    for (const end of endings) await end()
  })
  return () => login!
}
