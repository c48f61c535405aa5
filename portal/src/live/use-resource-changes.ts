// Changes of the resources of a kind, as the live stream tells them.
import { useEffect } from 'react'
import { useLive } from './use-live.ts'

/** Calls `again` when one of the kind has changed its state. */
export function useResourceChanges(kind: string, again: () => Promise<void>): void {
  const states = useLive(({ resources }) =>
    [...resources]
      .filter(([, resource]) => resource.kind === kind)
      .map(([id, { status, wanted, reason, awake }]) =>
        [id, status, wanted, reason ?? '', String(awake)].join(' '),
      )
      .join('\n'),
  )
  useEffect(() => {
    if (states !== '') void again()
  }, [states, again])
}
