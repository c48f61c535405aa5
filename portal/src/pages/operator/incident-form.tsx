// Opens, tells or closes an incident: written, then previewed as everybody will read it, then published.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { Dialog } from '#console/parts/forms/dialog.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { IncidentText, type Incident } from './incident-text.tsx'
import { incidentsChanged, useNode } from './use-operator.ts'

export type Doing =
  | { readonly what: 'open' }
  | { readonly what: 'update' | 'close'; readonly incident: Incident }

type FieldName = 'region' | 'summary' | 'words' | 'lost' | 'unbilled'
type Texts = Readonly<Record<FieldName, string>>
type FormField = readonly [name: FieldName, label: string, hint: string, most: number]

const TOLD: readonly FormField[] = [
  ['words', 'What is new', '', 2000],
  ['lost', 'What was lost', 'Empty: as before.', 2000],
  ['unbilled', 'What was not billed', 'Empty: as before.', 2000],
]
const FIELDS: Readonly<Record<Doing['what'], readonly FormField[]>> = {
  open: [
    ['region', 'Region', '', 100],
    ['summary', 'Summary', 'One sentence; it is public.', 500],
  ],
  update: TOLD,
  close: TOLD,
}
const TITLES = { open: 'Open an incident', update: 'Add words', close: 'Close the incident' }
const NO_TEXTS: Texts = { region: '', summary: '', words: '', lost: '', unbilled: '' }

/** Does it, or answers as if. */
function send(doing: Doing, texts: Texts, preview: boolean): Promise<Incident> {
  if (doing.what === 'open') {
    const { region, summary } = texts
    return call('POST /v1/operator/incidents', { body: { region, summary, preview } })
  }
  const given = TOLD.filter(([name]) => texts[name].trim() !== '')
  const body = { ...Object.fromEntries(given.map(([name]) => [name, texts[name]])), preview }
  const path = { incident: doing.incident.id }
  return doing.what === 'update'
    ? call('POST /v1/operator/incidents/:incident/updates', { path, body })
    : call('POST /v1/operator/incidents/:incident/close', { path, body })
}

type Props = { readonly doing: Doing; readonly onClose: () => void }

export function IncidentForm({ doing, onClose }: Props) {
  const region = useNode().data?.facts?.region ?? ''
  const [typed, setTyped] = useState<Partial<Texts>>({})
  const [foreseen, setForeseen] = useState<Incident>()
  const texts = { ...NO_TEXTS, region, ...typed }
  const preview = useAction(async () =>
    setForeseen(await withTouch(() => send(doing, texts, true))),
  )
  const publish = useAction(async () => {
    await withTouch(() => send(doing, texts, false))
    await incidentsChanged()
    onClose()
  })
  const error = publish.error ?? preview.error
  return (
    <Dialog title={TITLES[doing.what]} onClose={onClose}>
      <Form action={{ run: preview.run, error }}>
        {FIELDS[doing.what].map(([name, label, hint, most]) => (
          <Field
            key={name}
            label={label}
            name={name}
            {...(hint !== '' && { hint })}
            maxLength={most}
            required={doing.what === 'open'}
            value={texts[name]}
            onChange={({ target }) => {
              setTyped({ ...typed, [name]: target.value })
              setForeseen(undefined)
            }}
          />
        ))}
        {foreseen !== undefined && (
          <div className="plate foreseen" role="status">
            <p className="small muted">Nothing is changed yet. Everybody will read:</p>
            <h3>{foreseen.summary}</h3>
            <IncidentText incident={foreseen} />
          </div>
        )}
        {error !== undefined && <ProblemNote error={error} />}
        <div className="tools">
          <button type="submit" className="btn" disabled={preview.isBusy}>
            Preview
          </button>
          <button
            type="button"
            className="btn primary"
            disabled={foreseen === undefined || publish.isBusy}
            onClick={publish.run}
          >
            Publish
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </Form>
    </Dialog>
  )
}
