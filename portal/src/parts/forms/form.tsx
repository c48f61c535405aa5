// A form: it acts once at a time, and each of its fields shows its own fault.
import { createContext, useContext, type ReactNode } from 'react'
import type { Action } from './use-action.ts'

const Fault = createContext<unknown>(undefined)

/** The problem of the form around a field. */
export const useFault = (): unknown => useContext(Fault)

export const Form = (props: {
  readonly action: Pick<Action, 'run' | 'error'>
  readonly className?: string
  readonly children: ReactNode
}) => (
  <form
    className={props.className}
    onSubmit={(event) => {
      event.preventDefault()
      props.action.run()
    }}
  >
    <Fault value={props.action.error}>{props.children}</Fault>
  </form>
)
