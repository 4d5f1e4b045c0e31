import { useState, type FormEvent } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { SIGN_IN_KEY } from '../api/queries.ts'
import { signIn } from '../api/sign-in.ts'
import { ErrorNote } from '../parts/Notes.tsx'
import { Field } from '../parts/Field.tsx'
import { Mark } from './Mark.tsx'

/** Stands in place of every page until somebody has signed in, so the address stays what they wanted to see. */
export function SignInPage({ hadOne }: { hadOne: boolean }) {
  const queries = useQueryClient()
  const [key, setKey] = useState('')
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await signIn(key.trim())
      setKey('')
      await queries.invalidateQueries({ queryKey: SIGN_IN_KEY })
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <main className="sign-in">
      <form className="card" onSubmit={(event) => void submit(event)}>
        <h1>
          <Mark /> Berth
        </h1>
        <p className="quiet">
          {hadOne
            ? 'You are signed out. Sign in again to go on where you were.'
            : 'Sign in with an API key. What you see and may do here is what the key may do.'}
        </p>
        <Field
          label="API key"
          hint="The server prints the first one when it starts. The browser keeps a cookie, not the key."
        >
          {(attributes) => (
            <input
              {...attributes}
              type="password"
              name="key"
              autoComplete="off"
              spellCheck={false}
              required
              autoFocus
              value={key}
              onChange={({ target }) => setKey(target.value)}
            />
          )}
        </Field>
        {error !== undefined && <ErrorNote error={error} />}
        <button type="submit" className="primary" disabled={isBusy || key.trim() === ''}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}
