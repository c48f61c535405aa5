// A confirmation names the effect; the button that does it is never the first. What cannot be taken back has a name to
// type.
import { useState, type ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from './use-action.ts'

export function Confirm(props: {
  readonly title: string
  readonly children: ReactNode
  readonly verb: string
  readonly act: () => Promise<unknown>
  readonly onClose: () => void
  /** Typed before the button works. */
  readonly name?: string
}) {
  const { title, children, verb, act, onClose, name } = props
  const [typed, setTyped] = useState('')
  const action = useAction(async () => {
    await act()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="small">{children}</p>
      {name !== undefined && (
        <Field
          label={`Type ${name} to go on`}
          name="confirm"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="button" className="btn" onClick={onClose}>
          Keep it
        </button>
        <button
          type="button"
          className="btn danger"
          disabled={action.isBusy || (name !== undefined && typed !== name)}
          onClick={action.run}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  )
}
