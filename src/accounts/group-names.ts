// The kinds and names of the groups of GET /v1/usage that are ids. An id says nothing to people, and that of a sign-in at the
// portal is on no page.
import { kindOfResource } from '#contract/ledger/charged-resource.ts'
import { tokenNames } from '#identity/token-names.ts'
import { resourceNames } from '#resources/resource-names.ts'
import type { Queryable } from '#state/connect.ts'

type NamedGroup = { readonly kind: string | null; readonly name: string | null }
export type GroupNames = (group: string | null) => NamedGroup

/** Undefined where the groups are no ids. */
export async function namedGroups(
  state: Queryable,
  asked: { readonly account: string; readonly groupBy: string; readonly ids: readonly string[] },
): Promise<GroupNames | undefined> {
  const { account, groupBy, ids } = asked
  if (groupBy === 'resource') {
    const names = await resourceNames(state, account, ids)
    return (id) =>
      id === null ? UNNAMED : { kind: kindOfResource(id), name: names.get(id) ?? null }
  }
  if (groupBy !== 'token') return undefined
  const tokens = await tokenNames(state, account, ids)
  return (id) => (id === null ? undefined : tokens.get(id)) ?? UNNAMED
}

const UNNAMED: NamedGroup = { kind: null, name: null }
