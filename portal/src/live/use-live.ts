// The live state in React. A component reads one part of it and is drawn anew only when that part changes.
import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { queryClient, read } from '#console/client/queries.ts'
import type { LiveState } from './state.ts'
import { createLiveStore, firstMessage, type LiveStore } from './stream.ts'

let opened: LiveStore | undefined
/** One for the page, from its first reader on. */
const store = (): LiveStore => (opened ??= createLiveStore(isSignedIn))

/** Reads the session by the shell's own query. A session that may only add a passkey has no stream. */
async function isSignedIn(): Promise<boolean> {
  const session = read('GET /v1/session', {})
  // A read that failed is asked again by the shell.
  if (queryClient.getQueryState(session.queryKey)?.status === 'error') return false
  return queryClient.ensureQueryData(session).then(
    ({ must_add_passkey }) => !must_add_passkey,
    () => false,
  )
}

/** `pick` must return the same thing for the same state. */
export const useLive = <Part>(pick: (state: LiveState) => Part): Part =>
  useSyncExternalStore(store().subscribe, () => pick(store().get()))

/** A page whose stream tells nothing for so long asks the API for the same figures. */
const LATE_MS = 500

/** True once the stream is late. A read like others, so that a page is shown when its figures are there. */
export const useIsLate = (): boolean =>
  useQuery({
    queryKey: ['first live message'],
    queryFn: () => firstMessage(store(), LATE_MS),
    staleTime: Infinity,
  }).data === false
