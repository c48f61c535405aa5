// Charges of named operations, as the live stream tells them: work that began at a command line costs no polling.
import { useEffect, useMemo, useRef } from 'react'
import { lastAnswerMs } from '#console/client/queries.ts'
import { watchMissed } from './missed.ts'
import { useLive } from './use-live.ts'

/** Calls `again` when one of the operations was charged, and when charges came that the stream does not name. */
export function useCharges(operations: readonly string[], again: () => Promise<void>): void {
  const newest = useLive(
    ({ charges }) => charges.find(({ operation }) => operations.includes(operation))?.id,
  )
  const seen = useRef(newest)
  useEffect(() => {
    if (newest === seen.current) return
    seen.current = newest
    // Nothing was charged where the last such charge has left the list.
    if (newest !== undefined) void again()
  }, [newest, again])
  const missed = useLive(({ missedCount }) => missedCount)
  const watch = useMemo(() => watchMissed(again, lastAnswerMs), [again])
  useEffect(() => watch.hear(missed), [watch, missed])
  useEffect(() => watch.stop, [watch])
}
