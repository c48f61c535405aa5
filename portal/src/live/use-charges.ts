// Charges of named operations, as the live stream tells them: work that began at a command line costs no polling.
import { useEffect, useRef } from 'react'
import { useLive } from './use-live.ts'

/** Calls `again` when one of the operations was charged. */
export function useCharges(operations: readonly string[], again: () => Promise<void>): void {
  const newest = useLive(
    ({ charges }) => charges.find(({ operation }) => operations.includes(operation))?.id,
  )
  const seen = useRef(newest)
  useEffect(() => {
    if (newest === seen.current) return
    seen.current = newest
    void again()
  }, [newest, again])
}
