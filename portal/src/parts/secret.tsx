// A secret, shown once.
import { Command } from './copy.tsx'
import { Dialog } from './dialog.tsx'

export const Secret = (props: {
  readonly secret: string
  readonly onClose: () => void
  /** What it is: "token". */
  readonly what?: string
}) => {
  const { secret, onClose, what = 'token' } = props
  return (
    <Dialog title={`Keep this ${what}`} onClose={onClose}>
      <p className="small">It is shown only now.</p>
      <Command text={secret} label={what} />
      <div className="tools">
        <button type="button" className="btn primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  )
}
