// The frame: who is signed in, the board at the left, the page, and on a phone five tabs.
import { Navigate, Outlet, useRouterState } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useSyncExternalStore } from 'react'
import { isProblem } from '#console/client/problem.ts'
import { read } from '#console/client/queries.ts'
import { Waiting } from '#console/parts/page/loaded.tsx'
import { Board } from './board.tsx'
import { loadPart } from './load-page.ts'
import { isPaletteOpen, onPalette } from './palette-state.ts'
import { SessionEnd } from './session-end.tsx'
import { Suspended } from './suspended.tsx'
import { Tabs } from './tabs.tsx'
import { useKeys } from './keys.ts'

const isWanted = () => true
const Palette = lazy(async () => {
  const part = await loadPart(() => import('./palette.tsx'), isPaletteOpen)
  return { default: part.Palette }
})
const SignIn = lazy(async () => {
  const part = await loadPart(() => import('#console/sign-in/sign-in.tsx'), isWanted)
  return { default: part.SignIn }
})
const AddPasskey = lazy(async () => {
  const part = await loadPart(() => import('#console/sign-in/add-passkey.tsx'), isWanted)
  return { default: part.AddPasskey }
})
const SignUp = lazy(async () => {
  const part = await loadPart(() => import('#console/sign-up/sign-up.tsx'), isWanted)
  return { default: part.SignUp }
})

export function Shell() {
  const session = useQuery(read('GET /v1/session', {}))
  const isAsking = useSyncExternalStore(onPalette, isPaletteOpen)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useKeys()
  if (path === '/sign-up')
    return (
      <Suspense>
        <SignUp />
      </Suspense>
    )
  const isOut = isProblem(session.error) && session.error.status === 401
  // Who comes to sign in sees no other page before the service says that they are out.
  if (isOut || (path === '/sign-in' && session.data === undefined))
    return (
      <Suspense>
        <SignIn />
      </Suspense>
    )
  if (session.data?.must_add_passkey === true)
    return (
      <Suspense>
        <AddPasskey />
      </Suspense>
    )
  if (path === '/sign-in') return <Navigate to="/" replace />
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="frame">
        <Board session={session.data} />
        <main className="main" id="main" tabIndex={-1}>
          <SessionEnd />
          {typeof session.data?.suspended_for === 'string' && (
            <Suspended reason={session.data.suspended_for} />
          )}
          <Suspense fallback={<Waiting what="this page" />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Tabs />
      {isAsking && (
        <Suspense>
          <Palette />
        </Suspense>
      )}
      <div className="spoken" aria-live="polite" id="announcements" />
    </>
  )
}
