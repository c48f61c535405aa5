// POST /v1/operator/alarms/{id}/acknowledge
import { present } from '#base/errors.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { acknowledgeAlarm } from '#node/control/alarms.ts'
import type { State } from '#state/connect.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'

export const createOperatorAlarmAcknowledge = (state: State): Handler =>
  operatorOnly(state, async (call) => {
    const id = present(call.parameters['alarm'], 'the path has the alarm')
    return await state.transaction(async (transaction) => {
      const made = await acknowledgeAlarm(transaction, id)
      const act = { action: 'operator-alarm.acknowledge', target: id, details: made }
      await recordAct(transaction, call, act)
      return made
    })
  })
