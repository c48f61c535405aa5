// The uploads under way, with their progress; those that did not go through say why.
import { bytesShort, share } from '../../figures/amounts.ts'
import { ProblemNote } from '../../parts/loaded.tsx'
import { shown } from './place.ts'
import type { Upload, Uploads } from './use-uploads.ts'

export const UploadList = ({ uploads }: { readonly uploads: Uploads }) =>
  uploads.list.length === 0 ? null : (
    <ul className="uploads" aria-label="Uploads">
      {uploads.list.map((one) => (
        <li key={one.id}>
          <Progress upload={one} />
          <div className="tools">
            {one.state === 'exists' && (
              <button
                type="button"
                className="btn small danger"
                onClick={() => uploads.replace(one)}
              >
                Replace it
              </button>
            )}
            <button type="button" className="btn small" onClick={() => uploads.drop(one)}>
              {one.state === 'exists'
                ? 'Keep the old one'
                : one.state === 'failed'
                  ? 'Close'
                  : 'Stop'}
            </button>
          </div>
        </li>
      ))}
    </ul>
  )

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
