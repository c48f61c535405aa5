// A dialog that asks for the name of a passkey.
import { useState } from 'react'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'

export function NameDialog(props: {
  readonly title: string
  readonly verb: string
  readonly start: string
  readonly save: (name: string) => Promise<unknown>
  readonly onClose: () => void
}) {
  const { title, verb, start, save, onClose } = props
  const [name, setName] = useState(start)
  const act = async () => {
    await save(name.trim())
    onClose()
  }
  return (
    <FormDialog title={title} verb={verb} act={act} onClose={onClose}>
      <Field
        label="Name of this device"
        name="name"
        required
        maxLength={100}
        placeholder="my laptop"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
    </FormDialog>
  )
}
