// A form in a dialog: its fields, why it did not work, the button that does it, and the way out.
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { Refusal } from './refusal.tsx'
import { useAction } from './use-action.ts'

/** `act` closes the dialog, or shows what comes next in its place. */
export function FormDialog(props: {
  readonly title: string
  readonly verb: string
  readonly act: () => Promise<unknown>
  readonly onClose: () => void
  readonly children: ReactNode
  /** False: the form cannot be sent yet. */
  readonly isReady?: boolean
  readonly wayOut?: string
}) {
  const { title, verb, act, onClose, children, isReady = true, wayOut = 'Not now' } = props
  const action = useAction(act)
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action}>
        {children}
        <Refusal error={action.error} />
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy || !isReady}>
            {verb}
          </button>
          <button type="button" className="btn" onClick={onClose}>
            {wayOut}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}
