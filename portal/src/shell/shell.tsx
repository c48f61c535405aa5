// The frame: who is signed in, the board at the left, the page, and on a phone five tabs.
import { Outlet, useRouterState } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useSyncExternalStore } from 'react'
import { isProblem } from '#console/client/problem.ts'
import { read } from '#console/client/queries.ts'
import { Waiting } from '#console/parts/loaded.tsx'
import { Board } from './board.tsx'
import { isPaletteOpen, onPalette } from './palette-state.ts'
import { SessionEnd } from './session-end.tsx'
import { Suspended } from './suspended.tsx'
import { Tabs } from './tabs.tsx'
import { useKeys } from './keys.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const SignIn = lazy(async () => ({
  default: (await import('#console/sign-in/sign-in.tsx')).SignIn,
}))
const AddPasskey = lazy(async () => ({
  default: (await import('#console/sign-in/add-passkey.tsx')).AddPasskey,
}))
const SignUp = lazy(async () => ({
  default: (await import('#console/sign-up/sign-up.tsx')).SignUp,
}))

export function Shell() {
  const session = useQuery(read('GET /v1/session', {}))
  const isAsking = useSyncExternalStore(onPalette, isPaletteOpen)
  const isSigningUp = useRouterState({ select: ({ location }) => location.pathname === '/sign-up' })
  useKeys()
  if (isSigningUp)
    return (
      <Suspense>
        <SignUp />
      </Suspense>
    )
  if (isProblem(session.error) && session.error.status === 401)
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
