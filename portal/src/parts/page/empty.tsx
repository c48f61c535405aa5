// Nothing there yet: what it is, the command, then the button.
import type { ReactNode } from 'react'
import { Command } from './copy.tsx'

export const Empty = (props: {
  readonly title: string
  readonly children: ReactNode
  readonly command?: string | undefined
  readonly action?: ReactNode
}) => (
  <div className="empty">
    <h2>{props.title}</h2>
    <p className="small">{props.children}</p>
    {props.command !== undefined && <Command text={props.command} label="Command" />}
    {props.action}
  </div>
)
