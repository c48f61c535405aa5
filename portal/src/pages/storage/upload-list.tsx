// The uploads under way, with their progress; those that did not go through say why.
import type { BegunUpload } from '#console/client/begun-uploads.ts'
import { bytesShort, share } from '#console/figures/amounts.ts'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { shown } from './place.ts'
import type { Upload, Uploads } from './use-uploads.ts'

export const UploadList = ({ uploads }: { readonly uploads: Uploads }) =>
  uploads.list.length + uploads.begun.length === 0 ? null : (
    <ul className="uploads" aria-label="Uploads">
      {uploads.list.map((one) => (
        <li key={one.id}>
          <Progress upload={one} />
          <Buttons upload={one} uploads={uploads} />
        </li>
      ))}
      {uploads.begun.map((begun) => (
        <Begun key={begun.uploadId} begun={begun} onDiscard={() => uploads.discard(begun)} />
      ))}
    </ul>
  )

type ButtonsProps = { readonly upload: Upload; readonly uploads: Uploads }
const WAYS_OUT = { waits: 'Stop', runs: 'Stop', exists: 'Keep the old one', failed: 'Close' }

const Buttons = ({ upload, uploads }: ButtonsProps) => (
  <div className="tools">
    {upload.state === 'exists' && (
      <button type="button" className="btn small danger" onClick={() => uploads.replace(upload)}>
        Replace it
      </button>
    )}
    {upload.state === 'failed' && (
      <button type="button" className="btn small" onClick={() => uploads.again(upload)}>
        Go on
      </button>
    )}
    <button type="button" className="btn small" onClick={() => uploads.drop(upload)}>
      {WAYS_OUT[upload.state]}
    </button>
  </div>
)

function Begun(props: { readonly begun: BegunUpload; readonly onDiscard: () => Promise<void> }) {
  const { key, bytes } = props.begun
  const action = useAction(props.onDiscard)
  return (
    <li>
      <p className="small">
        <b className="wrap-anywhere">{shown(key)}</b>, {bytesShort(BigInt(bytes))}, is not finished.
        Choose the same file again to go on. The parts that arrived cost as stored bytes.
      </p>
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="button" className="btn small" disabled={action.isBusy} onClick={action.run}>
          Discard it
        </button>
      </div>
    </li>
  )
}

function Progress({ upload: { key, file, sent, state, error } }: { readonly upload: Upload }) {
  if (state === 'failed')
    return <ProblemNote error={error} title={`${shown(key)} was not uploaded`} />
  const [part, whole] = [BigInt(Math.min(sent, file.size)), BigInt(file.size)]
  const words = {
    waits: `waits, ${bytesShort(whole)}`,
    runs: `${share(part, whole)} of ${bytesShort(whole)}`,
    exists: 'there is an object of this name already',
  }[state]
  return (
    <div className="small">
      <span className="wrap-anywhere">
        <b>{shown(key)}</b>, {words}
      </span>
      <progress value={sent} max={Math.max(file.size, 1)} aria-label={`Upload of ${shown(key)}`} />
    </div>
  )
}
