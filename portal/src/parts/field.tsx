// A field with its label, and its fault below it.
import { useId, type ComponentProps, type ReactNode } from 'react'
import { isProblem } from '../client/problem.ts'

type Props = ComponentProps<'input'> & {
  readonly label: ReactNode
  readonly name: string
  /** The problem of the form: shown here when it is about this field. */
  readonly error?: unknown
  readonly hint?: string
}

export function Field({ label, name, error, hint, ...input }: Props) {
  const id = useId()
  const fault = isProblem(error) && error.param === name ? error.message : undefined
  const note = fault ?? hint
  return (
    <div className="labelled">
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        name={name}
        className="field"
        aria-invalid={fault !== undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
      />
      {note !== undefined && (
        <span id={`${id}-note`} className={fault === undefined ? 'small muted' : 'fault'}>
          {note}
        </span>
      )}
    </div>
  )
}
