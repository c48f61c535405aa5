// A new bucket. Its name is one for the whole service.
import { useState } from 'react'
import { makeBucket } from '#console/client/s3.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { useGo } from './place.ts'
import { bucketsChanged } from './use-storage.ts'

export function NewBucket({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const go = useGo()
  const act = async () => {
    await makeBucket(name)
    await bucketsChanged()
    onClose()
    go({ bucket: name })
  }
  return (
    <FormDialog title="New bucket" verb="Make the bucket" act={act} onClose={onClose}>
      <Field
        label="Name"
        name="bucket"
        required
        minLength={3}
        maxLength={63}
        pattern="[a-z0-9][a-z0-9.\-]*"
        autoComplete="off"
        placeholder="pictures"
        hint="3 to 63 of a-z, 0-9, - and . with a letter or a digit first. The name is unique in the whole service."
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
    </FormDialog>
  )
}
