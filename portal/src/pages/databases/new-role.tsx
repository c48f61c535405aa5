// A new role: its name, and whether it only reads.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Choices } from '#console/parts/forms/choices.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'

type Kind = 'writes' | 'reads'
const KINDS: readonly (readonly [Kind, string, string])[] = [
  ['writes', 'As the owner', 'It may do what the owner may, in every schema'],
  ['reads', 'Reads only', 'It reads all that the owner has, now and later, and changes nothing'],
]

export function NewRole(props: { readonly database: string; readonly onClose: () => void }) {
  const { database, onClose } = props
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('writes')
  const act = async () => {
    await withTouch(() =>
      call('POST /v1/databases/:database/roles', {
        path: { database },
        body: { name, read_only: kind === 'reads' },
      }),
    )
    await changed('GET /v1/databases/:database/roles')
    onClose()
  }
  return (
    <FormDialog title="New role" verb="Make the role" act={act} onClose={onClose}>
      <Field
        label="Name"
        name="name"
        required
        maxLength={30}
        autoComplete="off"
        spellCheck={false}
        placeholder="reporting"
        hint="Its address, with its password, is copied from the list."
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Choices legend="What it may do" value={kind} options={KINDS} onChange={setKind} />
    </FormDialog>
  )
}
