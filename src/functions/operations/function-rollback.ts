// POST /v1/functions/{id or name}/rollback: an earlier version is wanted again.
import { rollBackOf } from '#resources/roll-back.ts'
import { asRouteTaken } from '#functions/route-taken.ts'

export const rollBackFunction = rollBackOf({
  kind: 'function',
  notFound: 'function_version_not_found',
  refusalOf: asRouteTaken,
})
