// A new bucket. Its name is one for the whole service.
import { useState } from 'react'
import { makeBucket } from '../../client/s3.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import { useGo } from './place.ts'
import { bucketsChanged } from './use-storage.ts'

export function NewBucket({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const go = useGo()
  const action = useAction(async () => {
    await makeBucket(name)
    await bucketsChanged()
    onClose()
    go({ bucket: name })
  })
  return (
    <Dialog title="New bucket" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
      >
        <Field
          label="Name"
          name="bucket"
          required
          minLength={3}
          maxLength={63}
          pattern="[a-z0-9][a-z0-9.\-]*"
          autoComplete="off"
          placeholder="pictures"
          hint="3 to 63 of a-z, 0-9, - and . It is unique in the whole service."
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        {action.error !== undefined && <ProblemNote error={action.error} />}
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy}>
            Make the bucket
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}
