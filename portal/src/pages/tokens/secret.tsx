// A secret, shown once.
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'

export const Secret = (props: { readonly secret: string; readonly onClose: () => void }) => (
  <Dialog title="Keep this token" onClose={props.onClose}>
    <p className="small">It is shown only now.</p>
    <Command text={props.secret} label="Token" />
    <div className="tools">
      <button type="button" className="btn primary" onClick={props.onClose}>
        I have it
      </button>
    </div>
  </Dialog>
)
