// A refusal of a product quotes what it refuses. Of values that the description hides nobody may read that.
import { ErgonError } from '#base/errors.ts'
import { HIDDEN_VALUE_MISFITS } from '#hcl/diagnostics.ts'
import { isPending } from '#resources/stack-part.ts'

/** A message may quote the beginning of a value alone. */
const QUOTED_LEAST = 8

/** The error, without a message that quotes a value which is pending in `shown`: the same resource, read without secrets. */
export function withoutHidden(
  error: unknown,
  address: string,
  { revealed, shown }: { readonly revealed: unknown; readonly shown: unknown },
): unknown {
  if (!(error instanceof ErgonError)) return error
  const isQuoted = hiddenTexts(revealed, shown).some((text) =>
    error.message.includes(text.slice(0, QUOTED_LEAST)),
  )
  if (!isQuoted) return error
  const message = `Could not apply ${address}: ${HIDDEN_VALUE_MISFITS}`
  return new ErgonError({ code: error.code, status: error.status }, message)
}

/** The texts of what is pending, or absent, in `shown`. */
function hiddenTexts(revealed: unknown, shown: unknown): string[] {
  const isHidden = shown === undefined || isPending(shown)
  if (typeof revealed !== 'object' || revealed === null)
    return isHidden && revealed !== undefined ? [String(revealed)] : []
  return Object.entries(revealed).flatMap(([key, value]) =>
    hiddenTexts(value, isHidden ? undefined : (shown as Record<string, unknown>)[key]),
  )
}
