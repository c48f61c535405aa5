// GET /v1/compliance/packs and /{id}, and DELETE of one.
import { PACK_PAGE_MAX } from '#contract/compliance.ts'
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { findPack, packsOf } from './find-pack.ts'
import type { PackDeps } from './pack-create.ts'

const LIMIT = 20
const CURSOR = /^pack_\w{1,40}$/

const known = (body: object) => ({ kind: 'known', status: 200, body: () => body }) as const

export const createPackList =
  ({ state, keptDays }: PackDeps): Handler =>
  async ({ who, query: queryOf }) => {
    const query = queryOf()
    const limit = readLimit(query.get('limit'))
    const before = query.get('cursor')
    if (before !== null && !CURSOR.test(before))
      throw wrong('cursor', 'give it as next_cursor said it')
    const owner = { account: who?.account ?? '', keptDays }
    const found = await packsOf(state, owner, { before, limit: limit + 1 })
    const data = found.slice(0, limit)
    const hasMore = found.length > limit
    return known({
      object: 'list',
      data,
      has_more: hasMore,
      next_cursor: hasMore ? (data.at(-1)?.id ?? null) : null,
    })
  }

export const createPackGet =
  ({ state, keptDays }: PackDeps): Handler =>
  async ({ who, parameters }) =>
    known(
      await findPack(state, { account: who?.account ?? '', keptDays }, parameters['pack'] ?? ''),
    )

export const createPackDelete =
  ({ state, keptDays }: PackDeps): Handler =>
  async (call) => {
    const owner = { account: call.who?.account ?? '', keptDays }
    const { id, from, to } = await findPack(state, owner, call.parameters['pack'] ?? '')
    await state.transaction(async (transaction) => {
      await transaction.query('select drop_pack($1)', [id])
      await recordAct(transaction, call, {
        action: 'pack.delete',
        target: id,
        details: { from, to },
      })
    })
    return known({ id, object: 'compliance.pack', deleted: true })
  }

function readLimit(text: string | null): number {
  if (text === null) return LIMIT
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0
  if (limit === 0 || limit > PACK_PAGE_MAX) throw wrong('limit', `it is 1 to ${PACK_PAGE_MAX}`)
  return limit
}

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not list the evidence packs: ${why}`, { param })
