// Terms with their values, one below the other.
import { Fragment, type ReactNode } from 'react'

export const Pairs = ({ pairs }: { readonly pairs: readonly (readonly [string, ReactNode])[] }) => (
  <dl className="pairs">
    {pairs.map(([term, value]) => (
      <Fragment key={term}>
        <dt>{term}</dt>
        <dd>{value}</dd>
      </Fragment>
    ))}
  </dl>
)
