// The live state in React. A component reads one part of it and is drawn anew only when that part changes.
import { useSyncExternalStore } from 'react'
import type { LiveState } from './state.ts'
import { createLiveStore, type LiveStore } from './stream.ts'

let opened: LiveStore | undefined
/** One for the page, from its first reader on. */
const store = (): LiveStore => (opened ??= createLiveStore())

/** `pick` must return the same thing for the same state. */
export const useLive = <Part>(pick: (state: LiveState) => Part): Part =>
  useSyncExternalStore(store().subscribe, () => pick(store().get()))
