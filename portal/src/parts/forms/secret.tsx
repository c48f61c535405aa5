// A secret, shown once: a token, or a link that lets somebody in.
import type { ReactNode } from 'react'
import { Command } from '#console/parts/page/copy.tsx'
import { Dialog } from './dialog.tsx'

export const Secret = (props: {
  readonly secret: string
  readonly onClose: () => void
  /** What it is: "token". */
  readonly what?: string
  readonly title?: string
  readonly children?: ReactNode
}) => {
  const { secret, onClose, what = 'token', title = `Keep this ${what}`, children } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="small">{children ?? 'It is shown only now.'}</p>
      <Command text={secret} label={what} />
      <div className="tools">
        <button type="button" className="btn primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  )
}
