// The cookie of a sign-in. Scripts cannot read it, other sites cannot send it, and it ends with the browser.
const NAME = 'berth_sign_in'
/** A browser takes a cookie with this prefix only from HTTPS, for one host and every path. */
const SECURE_NAME = `__Host-${NAME}`
const VALUE = /^[A-Za-z0-9_]{1,128}$/

/** Undefined without one, or with several: then somebody else has set one, too. */
export function signInCookie(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const pairs = header.split(';').map((pair) => pair.trim())
  for (const name of [SECURE_NAME, NAME]) {
    const values = pairs
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1))
    if (values.length > 0) return values.length === 1 && VALUE.test(values[0]!) ? values[0] : undefined
  }
  return undefined
}

export function setSignInCookie(token: string, { isSecure }: { isSecure: boolean }): string {
  return written(token, isSecure)
}

export function clearSignInCookie({ isSecure }: { isSecure: boolean }): string {
  return `${written('', isSecure)}; Max-Age=0`
}

function written(value: string, isSecure: boolean): string {
  const name = isSecure ? SECURE_NAME : NAME
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
}
