// Two minutes before a sign-in ends the page says so. Each use moves the end, the read of the session too: the page asks
// for the end only after a key or a pointer, else a forgotten tab would keep its sign-in for a month.
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { changed, read } from '#console/client/queries.ts'
import { onUse } from '#console/parts/browser/use-of-page.ts'
import { useNow } from '#console/parts/time/zone.ts'

const WARNED_MS = 120_000

export function SessionEnd() {
  const { data: session, dataUpdatedAt } = useQuery(read('GET /v1/session', {}))
  const nowMs = useNow('minute').getTime()
  const endsMs = session === undefined ? Infinity : new Date(session.expires_at).getTime()
  const isNear = endsMs - nowMs <= WARNED_MS
  const isOver = endsMs <= nowMs
  const isAsked = dataUpdatedAt >= endsMs - WARNED_MS
  useEffect(() => {
    if (isOver) void changed('GET /v1/session')
  }, [isOver])
  useEffect(() => {
    if (!isNear || isAsked) return
    return onUse(() => void changed('GET /v1/session'))
  }, [isNear, isAsked])
  if (!isNear) return null
  return (
    <div className="note warn" role="status">
      <p>
        <b>Your sign-in ends in {Math.max(0, Math.ceil((endsMs - nowMs) / 1000))} s.</b> Then sign
        in again: you come back to this page.
      </p>
    </div>
  )
}
