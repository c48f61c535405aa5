// The live state in React. A component reads one part of it and is drawn anew only when that part changes.
import { useSyncExternalStore } from 'react'
import type { LiveState } from './state.ts'
import { createLiveStore } from './stream.ts'

const store = createLiveStore()

/** `pick` must return the same thing for the same state. */
export const useLive = <Part>(pick: (state: LiveState) => Part): Part =>
  useSyncExternalStore(store.subscribe, () => pick(store.get()))
