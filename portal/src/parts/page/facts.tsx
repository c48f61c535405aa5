// Up to four facts in a row: a term, its value, and a line below it.
import type { ReactNode } from 'react'

export type Fact = readonly [term: string, value: ReactNode, note: ReactNode]

export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className="facts">
    {facts.map(([term, value, note]) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>
          {value}
          <small>{note}</small>
        </dd>
      </div>
    ))}
  </dl>
)
