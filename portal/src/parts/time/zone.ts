// The zone of all times, and the clock that relative times follow.
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Zone } from '#console/figures/time.ts'
import { settings } from '#console/parts/browser/settings.ts'
import { eachWhileVisible } from './visible-clock.ts'

export const useZone = (): Zone =>
  useSyncExternalStore(settings.subscribe, () => settings.get('zone'))

const EVERY_MS = { second: 1_000, minute: 10_000, day: 600_000 }

/** Now, drawn anew as often as the text that is made of it changes. */
export function useNow(every: keyof typeof EVERY_MS): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => eachWhileVisible(EVERY_MS[every], () => setNow(new Date())), [every])
  return now
}
