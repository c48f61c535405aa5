// The form of a webhook: where it sends to, what it sends, and words to recognise it.
import { useState } from 'react'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { EVENT_GROUPS } from './webhook.ts'

export type WebhookFields = {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
}

export function WebhookForm(props: {
  readonly title: string
  readonly verb: string
  readonly start: WebhookFields
  readonly save: (fields: WebhookFields) => Promise<unknown>
  readonly onClose: () => void
}) {
  const { title, verb, start, save, onClose } = props
  const [form, setForm] = useState(start)
  const act = () => save(form)
  return (
    <FormDialog
      title={title}
      verb={verb}
      isReady={form.events.length > 0}
      act={act}
      onClose={onClose}
    >
      <Field
        label="Address"
        name="url"
        type="url"
        required
        maxLength={2048}
        placeholder="https://example.com/events"
        hint="Values behind the ? are masked once they are saved, and never shown again. A secret in the path stays visible."
        value={form.url}
        onChange={({ target }) => setForm({ ...form, url: target.value })}
      />
      <Field
        label="What is it for?"
        name="description"
        maxLength={200}
        value={form.description}
        onChange={({ target }) => setForm({ ...form, description: target.value })}
      />
      <Events events={form.events} onChange={(events) => setForm({ ...form, events })} />
    </FormDialog>
  )
}

type EventsProps = {
  readonly events: readonly string[]
  readonly onChange: (events: readonly string[]) => void
}

/** Types that are not offered here, such as those of one bucket, stay as they are. */
const Events = ({ events, onChange }: EventsProps) => (
  <div className="event-groups">
    {EVENT_GROUPS.map(([subject, types]) => (
      <fieldset key={subject}>
        <legend className="small muted">{subject}</legend>
        {types.map((type) => (
          <label key={type} className="check small">
            <input
              type="checkbox"
              checked={events.includes(type)}
              onChange={({ target }) =>
                onChange(
                  target.checked ? [...events, type] : events.filter((other) => other !== type),
                )
              }
            />
            {type}
          </label>
        ))}
      </fieldset>
    ))}
  </div>
)
