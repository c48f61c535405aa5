// GET /v1/deployments and /v1/deployments/{id}.
import {
  deploymentReplyOf,
  deploymentsWhere,
  findDeployment,
  deploymentSteps,
  deploymentSummaryOf,
} from '#deployments/rows.ts'
import { idCursor, readListPage } from '#http/list-page.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'

const CURSOR = idCursor('dep')

export const createDeploymentList =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller, query: queryOf }) => {
    const query = queryOf()
    const page = readListPage(query, CURSOR.form)
    const rows = await deploymentsWhere(
      state,
      'd.account = $2 and d.id < $3 and ($4::text is null or d.stack = $4) order by d.id desc limit $5',
      [
        callerOf({ caller }).account,
        page.cursor?.[0] ?? CURSOR.end,
        query.get('stack'),
        page.rowsMax,
      ],
    )
    return known(page.list(rows, deploymentSummaryOf, ({ id }) => id))
  }

export const createDeploymentGet =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller, parameters }) => {
    const { account } = callerOf({ caller })
    const row = await findDeployment(state, account, parameters['deployment'] ?? '')
    return known(deploymentReplyOf(row, await deploymentSteps(state, row.id)))
  }
