// An object: what it is, a preview, a link for others, its deletion.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { hasAddress, removeObject, type Place, type StoredObject } from '#console/client/s3.ts'
import { bytesExact } from '#console/figures/amounts.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Loaded, ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { When } from '#console/parts/time/when.tsx'
import { lastPart, shown } from './place.ts'
import { Preview } from './preview.tsx'
import { Share } from './share.tsx'
import { objectsChanged, useObject } from './use-storage.ts'

/** The address is used at once. */
const OPEN_S = 60

/** The object of an address, which may be on no page of the list that was read. */
export function Opened(props: {
  readonly place: Place
  readonly listed: StoredObject | undefined
  readonly onClose: () => void
}) {
  const { place, listed, onClose } = props
  const query = useObject(place, listed)
  return (
    <aside className="plate object" aria-label="Object">
      <Loaded query={query} what="the object">
        {(object) => <ObjectPanel bucket={place.bucket} object={object} onClose={onClose} />}
      </Loaded>
    </aside>
  )
}

function ObjectPanel(props: {
  readonly bucket: string
  readonly object: StoredObject
  readonly onClose: () => void
}) {
  const { bucket, object, onClose } = props
  const { key, bytes, modifiedAt } = object
  const place = { bucket, key }
  return (
    <div className="stack">
      <h2 className="wrap-anywhere">{lastPart(key)}</h2>
      <dl className="pairs">
        <dt>Key</dt>
        <dd>{shown(key)}</dd>
        <dt>Size</dt>
        <dd>{bytesExact(bytes)}</dd>
        <dt>Changed</dt>
        <dd>
          <When at={modifiedAt} isExact />
        </dd>
      </dl>
      {hasAddress(key) ? (
        <>
          <Preview place={place} bytes={bytes} />
          <Share place={place} />
        </>
      ) : (
        <p className="small">
          Browsers cannot ask for a key with a part “.” or “..”: use the command line.
        </p>
      )}
      <Actions place={place} onClose={onClose} />
    </div>
  )
}

function Actions({ place, onClose }: { readonly place: Place; readonly onClose: () => void }) {
  const { key } = place
  const [isRemoving, setRemoving] = useState(false)
  const open = useAction(async () => {
    const body = { ...place, expires_s: OPEN_S }
    const { url } = await call('POST /v1/storage/presigned', { body })
    window.open(url, '_blank', 'noopener,noreferrer')
  })
  return (
    <>
      {open.error !== undefined && <ProblemNote error={open.error} />}
      <div className="tools">
        <button
          type="button"
          className="btn small"
          disabled={open.isBusy || !hasAddress(key)}
          onClick={open.run}
        >
          Open
        </button>
        <button
          type="button"
          className="btn small danger"
          disabled={!hasAddress(key)}
          onClick={() => setRemoving(true)}
        >
          Delete
        </button>
        <button type="button" className="btn small" onClick={onClose}>
          Close
        </button>
      </div>
      {isRemoving && (
        <Confirm
          title={`Delete ${lastPart(key)}`}
          verb="Delete it"
          onClose={() => setRemoving(false)}
          act={async () => {
            await removeObject(place)
            await objectsChanged()
            onClose()
          }}
        >
          Links to it stop working. In a bucket with versions the older ones stay.
        </Confirm>
      )}
    </>
  )
}
