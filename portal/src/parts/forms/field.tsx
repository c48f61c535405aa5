// A field with its label, and below it the problem of its form when it is about this field.
import { useId, type ComponentProps, type ReactNode } from 'react'
import { isProblem } from '#console/client/problem.ts'
import { useFault } from './form.tsx'

type Props = ComponentProps<'input'> & {
  readonly label: ReactNode
  readonly name: string
  readonly hint?: string
}

export function Field({ label, name, hint, ...input }: Props) {
  const error = useFault()
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
