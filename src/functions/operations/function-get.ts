// GET /v1/functions and /v1/functions/{id or name}.
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'
import { findFunction, functionsOf, functionReplyOf } from './find-function.ts'

type Deps = { readonly state: Queryable; readonly settings: FunctionGatewaySettings }

export const createFunctionList =
  ({ state, settings }: Deps): Handler =>
  async ({ who }) => {
    const rows = await functionsOf(state, callerOf(who).account)
    const data = rows.map((row) => functionReplyOf(row, settings))
    return known({ object: 'list', data, has_more: false, next_cursor: null })
  }

export const createFunctionGet =
  ({ state, settings }: Deps): Handler =>
  async ({ who, parameters }) => {
    const { account } = callerOf(who)
    return known(
      functionReplyOf(await findFunction(state, account, parameters['function'] ?? ''), settings),
    )
  }
