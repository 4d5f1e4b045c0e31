import { Suspense, useMemo, useRef, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { powerOf, signInQuery } from '../api/sign-in.ts'
import { Loading, Pending } from '../parts/Notes.tsx'
import { Frame } from './Frame.tsx'
import { SignInPage } from './SignInPage.tsx'

/** Asks who is signed in before anything else. */
export function Root({ children }: { children: ReactNode }) {
  const query = useQuery(signInQuery)
  const { data } = query
  const hadOne = useRef(false)
  if (data) hadOne.current = true
  const power = useMemo(() => (data ? powerOf(data) : undefined), [data])
  if (data === null) return <SignInPage hadOne={hadOne.current} />
  if (!power) return <Pending query={query} what="who you are" />
  return (
    <Frame power={power}>
      <Suspense fallback={<Loading what="the page" />}>{children}</Suspense>
    </Frame>
  )
}
