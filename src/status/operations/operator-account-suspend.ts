// POST /v1/operator/accounts/{id}/suspend
import type { AccountSuspension } from '#contract/operator/operator.ts'
import type { Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'
import { suspendAccount } from '#status/operator/suspend-account.ts'

export const createOperatorAccountSuspend = (state: State): Handler<AccountSuspension> =>
  operatorOnly(state, (call) => suspendAccount(state, call, call.body.reason))
