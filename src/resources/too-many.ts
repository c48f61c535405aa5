// The refusal of one more resource than an account may have. Those that never started have a place too, as they have a name,
// logs and versions: the refusal names them, because nothing is lost with them.
import type { ErgonError } from '#base/errors.ts'
import { fault, type Code } from '#contract/errors.ts'
import { hasSqlState } from '#state/sql-states.ts'

const NAMES_MAX = 5

/** Undefined for another error. add_resource() names those that never started in the detail. */
export function tooManyFault(
  error: unknown,
  { code, what, most }: { readonly code: Code; readonly what: string; readonly most: string },
): ErgonError | undefined {
  if (!hasSqlState(error, 'tooManyOfKind')) return undefined
  const { detail = '' } = error as { readonly detail?: string }
  return fault(code, `${what}: an account has at most ${most}${neverStarted(detail)}`)
}

function neverStarted(detail: string): string {
  const names = detail.split(' ').filter((name) => name !== '')
  if (names.length === 0) return ''
  const more = names.length - NAMES_MAX
  const shown = [...names.slice(0, NAMES_MAX), ...(more > 0 ? [`${more} more`] : [])]
  return `; these never started, and can be deleted: ${shown.join(', ')}`
}
