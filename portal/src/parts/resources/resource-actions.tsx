// The actions on a resource: suspend or resume, its own ones, and the deletion last.
import { useRouter } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'

export function ResourceActions(props: {
  readonly name: string
  readonly status: string
  /** The list that a deletion leads to. */
  readonly list: string
  readonly suspend: (suspended: boolean) => Promise<unknown>
  readonly remove: () => Promise<unknown>
  /** The effects, in words. */
  readonly suspendWords: ReactNode
  readonly removeWords: ReactNode
  /** The button of what is its own, and its dialog. */
  readonly change: string
  readonly dialog: (onClose: () => void) => ReactNode
}) {
  const { name, status, list, suspend, remove } = props
  const router = useRouter()
  const [doing, setDoing] = useState<'suspend' | 'change' | 'remove'>()
  const stop = () => setDoing(undefined)
  const resume = useAction(() => suspend(false))
  return (
    <Section title="Change it">
      <div className="tools">
        {status === 'suspended' ? (
          <button type="button" className="btn" disabled={resume.isBusy} onClick={resume.run}>
            Resume
          </button>
        ) : (
          <button type="button" className="btn" onClick={() => setDoing('suspend')}>
            Suspend
          </button>
        )}
        <button type="button" className="btn" onClick={() => setDoing('change')}>
          {props.change}
        </button>
        <button type="button" className="btn danger" onClick={() => setDoing('remove')}>
          Delete
        </button>
      </div>
      {resume.error !== undefined && <ProblemNote error={resume.error} />}
      {doing === 'change' && props.dialog(stop)}
      {doing === 'suspend' && (
        <Confirm
          title={`Suspend ${name}`}
          verb="Suspend it"
          onClose={stop}
          act={() => suspend(true)}
        >
          {props.suspendWords}
        </Confirm>
      )}
      {doing === 'remove' && (
        <Confirm
          title={`Delete ${name}`}
          verb="Delete it"
          name={name}
          onClose={stop}
          act={async () => {
            await remove()
            await router.navigate({ to: list })
          }}
        >
          {props.removeWords}
        </Confirm>
      )}
    </Section>
  )
}
