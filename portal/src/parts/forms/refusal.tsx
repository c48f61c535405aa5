// Why an action did not work, where its button was: the answer of the API, or the reason of a passkey.
import { isCancelled, isProblem } from '#console/client/problem.ts'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { Words } from '#console/parts/page/words.tsx'

export function Refusal({ error }: { readonly error: unknown }) {
  if (error === undefined) return null
  if (isCancelled(error) || isProblem(error))
    return <ProblemNote error={error} title="That did not work" />
  return (
    <div className="note bad" role="alert">
      <p>
        <Words text={error instanceof Error ? error.message : String(error)} />
      </p>
    </div>
  )
}
