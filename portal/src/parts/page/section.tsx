// A section is an ink line and a heading, with at most one thing at its right.
import type { ReactNode } from 'react'

export const Section = (props: {
  readonly title: string
  readonly aside?: ReactNode
  readonly children: ReactNode
}) => (
  <section className="section">
    <header>
      <h2>{props.title}</h2>
      {props.aside !== undefined && <span className="small">{props.aside}</span>}
    </header>
    {props.children}
  </section>
)
