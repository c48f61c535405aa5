// One of several: radio buttons with a sentence each, or a list to open.
import { useId } from 'react'

export function Choices<Value extends string>(props: {
  readonly legend: string
  /** Undefined: none is chosen. */
  readonly value: Value | undefined
  readonly options: readonly (readonly [value: Value, title: string, help: string])[]
  readonly onChange: (value: Value) => void
}) {
  const { legend, value, options, onChange } = props
  const name = useId()
  return (
    <fieldset className="choices">
      <legend className="spoken">{legend}</legend>
      {options.map(([option, title, help]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            checked={value === option}
            onChange={() => onChange(option)}
          />
          <span>
            {title}
            <small>{help}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

export function Select<Value extends string>(props: {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, title: string])[]
  readonly onChange: (value: Value) => void
}) {
  const { label, value, options, onChange } = props
  const id = useId()
  return (
    <div className="labelled">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="field"
        value={value}
        onChange={({ target }) => onChange(target.value as Value)}
      >
        {options.map(([option, title]) => (
          <option key={option} value={option}>
            {title}
          </option>
        ))}
      </select>
    </div>
  )
}
