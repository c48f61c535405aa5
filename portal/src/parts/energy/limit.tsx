// A bar that fills towards a limit; at 80 % it warns.
import type { ReactNode } from 'react'
import { share } from '#console/figures/amounts.ts'

const WARNED_PCT = 80n

export function Limit(props: {
  readonly name: ReactNode
  readonly words: string
  readonly used: bigint
  readonly most: bigint
}) {
  const { name, words, used, most } = props
  const pct = most === 0n ? 100n : (used * 100n) / most
  const width = `${pct > 100n ? 100n : pct}%`
  return (
    <div className={pct >= WARNED_PCT ? 'limit near' : 'limit'}>
      <div>
        <span>{name}</span>
        <span>{words}</span>
      </div>
      <div
        className="bar"
        role="img"
        aria-label={`${share(used, most)} used; warned at ${WARNED_PCT} %`}
      >
        <span style={{ '--used': width } as React.CSSProperties} />
        <em />
      </div>
    </div>
  )
}
