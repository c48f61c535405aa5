// A dialog that asks for the name of a passkey.
import { useState } from 'react'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { useAction } from '../../parts/use-action.ts'
import { Refusal } from '../../sign-in/refusal.tsx'

export function NameDialog(props: {
  readonly title: string
  readonly verb: string
  readonly start: string
  readonly save: (name: string) => Promise<unknown>
  readonly onClose: () => void
}) {
  const { title, verb, start, save, onClose } = props
  const [name, setName] = useState(start)
  const action = useAction(async () => {
    await save(name.trim())
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
      >
        <Field
          label="Name of this device"
          name="name"
          required
          maxLength={100}
          placeholder="my laptop"
          value={name}
          error={action.error}
          onChange={({ target }) => setName(target.value)}
        />
        <Refusal error={action.error} />
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy}>
            {verb}
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}
