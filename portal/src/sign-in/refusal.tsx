// Why a passkey did not work, where the button was.
import { isProblem } from '../client/problem.ts'
import { ProblemNote } from '../parts/loaded.tsx'
import { isCancelled } from './passkey.ts'

export function Refusal({ error }: { readonly error: unknown }) {
  if (error === undefined) return null
  if (isCancelled(error))
    return (
      <p className="small muted" role="status">
        Nothing was chosen. Try again when you are ready.
      </p>
    )
  if (isProblem(error)) return <ProblemNote error={error} title="That did not work" />
  return (
    <div className="note bad" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
    </div>
  )
}
