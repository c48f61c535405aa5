// An empty bucket can be removed.
import { useState } from 'react'
import { removeBucket } from '#console/client/s3.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { useGo } from './place.ts'
import { bucketsChanged } from './use-storage.ts'

export function RemoveBucket({ bucket }: { readonly bucket: string }) {
  const [isRemoving, setRemoving] = useState(false)
  const go = useGo()
  return (
    <div className="tools">
      <button type="button" className="btn danger" onClick={() => setRemoving(true)}>
        Delete the bucket
      </button>
      {isRemoving && (
        <Confirm
          title={`Delete ${bucket}`}
          verb="Delete it"
          name={bucket}
          onClose={() => setRemoving(false)}
          act={async () => {
            await removeBucket(bucket)
            await bucketsChanged()
            go({})
          }}
        >
          Its settings are deleted, and anybody may take its name afterwards.
        </Confirm>
      )}
    </div>
  )
}
