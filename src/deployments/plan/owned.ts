// The resources that stacks have, as their last deployments left them.
import { fault } from '#contract/errors.ts'
import type { AnyPart } from '#deployments/parts.ts'
import type { FoundResource } from '#resources/stack-part.ts'
import type { ResourceTypeName } from '#stack/resource-types.ts'
import { ADVISORY_LOCKS } from '#state/advisory-locks.ts'
import type { Queryable } from '#state/connect.ts'

export type OwnedResource = {
  readonly address: string
  readonly kind: ResourceTypeName
  readonly name: string
  readonly resource: string
  readonly needs: string[]
  readonly applied: Readonly<Record<string, string>> | null
}

export type StackId = { readonly account: string; readonly stack: string }

/** The resources that the stack owns, by address. */
export async function ownedBy(
  state: Queryable,
  { account, stack }: StackId,
): Promise<ReadonlyMap<string, OwnedResource>> {
  const { rows } = await state.query<OwnedResource>(
    `select address, kind, name, resource, needs, applied from stack_resources
     where account = $1 and stack = $2 order by address`,
    [account, stack],
  )
  return new Map(rows.map((row) => [row.address, row]))
}

/** The resource itself; not another one that has its name since. */
export async function findOwned(
  state: Queryable,
  part: AnyPart,
  { account, name, resource }: { account: string; name: string; resource: string | null },
): Promise<FoundResource | undefined> {
  if (resource === null) return undefined
  const found = await part.find(state, { account, name, id: resource, spec: undefined })
  return found?.id === resource ? found : undefined
}

/** Until the end of the transaction no other one gives a resource of the account to a stack. */
export const lockOwned = async (transaction: Queryable, account: string): Promise<void> =>
  void (await transaction.query(
    `select pg_advisory_xact_lock(${ADVISORY_LOCKS.stacks}, hashtext($1))`,
    [account],
  ))

/**
 * False of a resource that the stack has under another address. Some kinds have names in descriptions alone: what is there is
 * found by an url that is about to move. Throws resource_in_other_stack.
 */
export async function isFree(
  state: Queryable,
  { account, stack }: StackId,
  { kind, address, resource }: { kind: string; address: string; resource: string },
): Promise<boolean> {
  const { rows } = await state.query<{ stack: string }>(
    `select stack from stack_resources
     where account = $1 and kind = $2 and resource = $3 and (stack, address) <> ($4, $5) limit 1`,
    [account, kind, resource, stack, address],
  )
  const [other] = rows
  if (other === undefined) return true
  if (other.stack === stack) return false
  throw fault(
    'resource_in_other_stack',
    `Could not deploy ${address}: the stack "${other.stack}" has it`,
  )
}

/** From now on the stack has the resource. */
export const own = async (
  transaction: Queryable,
  { account, stack }: StackId,
  { address, kind, name, resource, needs, applied }: OwnedResource,
): Promise<void> =>
  void (await transaction.query(
    `insert into stack_resources (account, stack, address, kind, name, resource, needs, applied)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (account, stack, address) do update
       set resource = excluded.resource, needs = excluded.needs, applied = excluded.applied`,
    [account, stack, address, kind, name, resource, needs, applied && JSON.stringify(applied)],
  ))

export const disown = async (
  transaction: Queryable,
  { account, stack }: StackId,
  address: string,
): Promise<void> =>
  void (await transaction.query(
    'delete from stack_resources where account = $1 and stack = $2 and address = $3',
    [account, stack, address],
  ))
