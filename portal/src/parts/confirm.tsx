// A confirmation names the effect; the button that does it is never the first.
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { ProblemNote } from './loaded.tsx'
import { useAction } from './use-action.ts'

export function Confirm(props: {
  readonly title: string
  readonly children: ReactNode
  readonly verb: string
  readonly act: () => Promise<unknown>
  readonly onClose: () => void
}) {
  const { title, children, verb, act, onClose } = props
  const action = useAction(async () => {
    await act()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="small">{children}</p>
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="button" className="btn" onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="btn danger" disabled={action.isBusy} onClick={action.run}>
          {verb}
        </button>
      </div>
    </Dialog>
  )
}
