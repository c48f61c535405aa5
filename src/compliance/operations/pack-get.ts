// GET /v1/compliance/packs and /{id}, and DELETE of one.
import { readListPage } from '#http/list-page.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import { findPack, packNotFound, packsOf } from '#compliance/find-pack.ts'
import type { PackDeps } from './pack-create.ts'

const CURSOR = /^pack_\w{1,40}$/

export const createPackList =
  ({ state, keptDays }: PackDeps): Handler =>
  async ({ caller, query: queryOf }) => {
    const page = readListPage(queryOf(), CURSOR)
    const owner = { account: callerOf({ caller }).account, keptDays }
    const before = page.cursor?.[0] ?? null
    const found = await packsOf(state, owner, { before, limit: page.rowsMax })
    return known(
      page.list(
        found,
        (pack) => pack,
        ({ id }) => id,
      ),
    )
  }

export const createPackGet =
  ({ state, keptDays }: PackDeps): Handler =>
  async ({ caller, parameters }) =>
    known(
      await findPack(
        state,
        { account: callerOf({ caller }).account, keptDays },
        parameters['pack'] ?? '',
      ),
    )

export const createPackDelete =
  ({ state, keptDays }: PackDeps): Handler =>
  async (call) => {
    const owner = { account: callerOf(call).account, keptDays }
    const { id, from, to } = await findPack(state, owner, call.parameters['pack'] ?? '')
    await state.transaction(async (transaction) => {
      const { rows } = await transaction.query<{ dropped: boolean }>(
        'select drop_pack($1) as dropped',
        [id],
      )
      // Another call has deleted it since.
      if (rows[0]?.dropped !== true) throw packNotFound(id)
      await recordAct(transaction, call, {
        action: 'pack.delete',
        target: id,
        details: { from, to },
      })
    })
    return known({ id, object: 'compliance.pack', deleted: true })
  }
