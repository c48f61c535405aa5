// A page is shown once its first reads have come, so that nothing moves while they do. Slow ones are shown as they come.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'

/** A page is usable within a second. */
const HIDDEN_MS_MAX = 800
/** A read that has come may begin another. */
const QUIET_MS = 40

export function Settling({ children }: { readonly children: ReactNode }) {
  const isSettled = useSettled()
  return <div className={isSettled ? 'settled' : 'settling'}>{children}</div>
}

/** True once no read is under way that has no answer yet, and from then on. */
function useSettled(): boolean {
  const client = useQueryClient()
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    if (isSettled) return undefined
    const isQuiet = () =>
      client.isFetching({ predicate: ({ state }) => state.data === undefined }) === 0
    let quiet: ReturnType<typeof setTimeout>
    const look = () => {
      clearTimeout(quiet)
      quiet = setTimeout(() => isQuiet() && setSettled(true), QUIET_MS)
    }
    look()
    const latest = setTimeout(() => setSettled(true), HIDDEN_MS_MAX)
    const unsubscribe = client.getQueryCache().subscribe(look)
    return () => {
      clearTimeout(quiet)
      clearTimeout(latest)
      unsubscribe()
    }
  }, [client, isSettled])
  return isSettled
}
