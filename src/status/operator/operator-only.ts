// The form of an operation of the operator on the portal: for the operator's account alone. A gateway can change rows of
// the state, as it does for every caller; nothing here controls the agent.
import { known, type Handler, type OperationCall } from '#http/reply.ts'
import { demandOperator } from '#identity/operator-account.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'

/** `answer` resolves with the reply, for JSON. Throws operator_only. */
export const operatorOnly =
  <Body>(state: Queryable, answer: (call: OperationCall<Body>) => Promise<object>): Handler<Body> =>
  async (call) => {
    await demandOperator(state, callerOf(call))
    return known(await answer(call))
  }
