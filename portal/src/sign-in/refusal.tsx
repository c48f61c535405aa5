// Why a passkey did not work, where the button was.
import { isCancelled, isProblem } from '../client/problem.ts'
import { ProblemNote } from '../parts/loaded.tsx'

export function Refusal({ error }: { readonly error: unknown }) {
  if (error === undefined) return null
  if (isCancelled(error) || isProblem(error))
    return <ProblemNote error={error} title="That did not work" />
  return (
    <div className="note bad" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
    </div>
  )
}
