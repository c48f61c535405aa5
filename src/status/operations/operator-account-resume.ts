// POST /v1/operator/accounts/{id}/resume
import type { Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'
import { suspendAccount } from '#status/operator/suspend-account.ts'

export const createOperatorAccountResume = (state: State): Handler =>
  operatorOnly(state, (call) => suspendAccount(state, call, undefined))
