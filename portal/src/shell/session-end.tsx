// Two minutes before a sign-in ends the page says so.
import type { Session } from '../client/operations.ts'
import { useNow } from '../parts/zone.ts'

const WARNED_MS = 120_000

export function SessionEnd({ session }: { readonly session: Session | undefined }) {
  const now = useNow('minute')
  if (session === undefined) return null
  const leftMs = new Date(session.expires_at).getTime() - now.getTime()
  if (leftMs > WARNED_MS) return null
  return (
    <div className="note warn" role="status">
      <p>
        <b>Your sign-in ends in {Math.max(0, Math.ceil(leftMs / 1000))} s.</b> Anything that you do
        here keeps it.
      </p>
    </div>
  )
}
