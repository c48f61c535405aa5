// The words for a resource that an account does not have: with the nearest name of those that it can list.
import { didYouMean, NEAR_WORDS_MAX } from '#base/nearest.ts'
import type { Queryable } from '#state/connect.ts'

const SHOWN_MAX = 100

const NAMES = `select name from resources where account = $1 and kind = $2 and desired <> 'deleted'
  order by name limit ${NEAR_WORDS_MAX}`

/** `Could not find the function: "helo"; did you mean "hello"?` */
export async function notFoundWords(
  state: Queryable,
  { account, kind, wanted }: { readonly account: string; readonly kind: string; wanted: string },
): Promise<string> {
  const { rows } = await state.query<{ name: string }>(NAMES, [account, kind])
  const meant = didYouMean(
    wanted,
    rows.map(({ name }) => name),
  )
  const words = `Could not find the ${kind}: "${wanted.slice(0, SHOWN_MAX)}"`
  return meant === undefined ? words : `${words}; ${meant}`
}
