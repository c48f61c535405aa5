// An earlier version of a resource is wanted again, by the function roll_back_<kind> of its product.
import { fault, type Code } from '#contract/errors.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Queryable } from '#state/connect.ts'

export type RollBack = (
  transaction: Queryable,
  call: ActingCall,
  asked: {
    readonly resource: { readonly id: string; readonly name: string }
    readonly change: { readonly version?: number | undefined }
  },
) => Promise<void>

/**
 * Rolls a resource back, with the entry in the audit log. Throws `notFound` where there is no such version, and what
 * `refusalOf` makes of an error.
 */
export const rollBackOf =
  (product: {
    readonly kind: string
    readonly notFound: Code
    readonly refusalOf: (error: unknown, name: string) => unknown
  }): RollBack =>
  async (transaction, call, { resource: { id, name }, change: { version: asked } }) => {
    const { kind, notFound, refusalOf } = product
    const { rows } = await transaction
      .query<{ version: number | null }>(`select roll_back_${kind}($1, $2) as version`, [
        id,
        asked ?? null,
      ])
      .catch((error: unknown) => {
        throw refusalOf(error, name)
      })
    const version = rows[0]?.version ?? undefined
    if (version === undefined) {
      const words = asked === undefined ? 'version before the live one' : `version ${asked}`
      throw fault(notFound, `Could not roll "${name}" back: there is no ${words}`)
    }
    await recordAct(transaction, call, {
      action: `${kind}.rollback`,
      target: id,
      details: { version },
    })
  }
