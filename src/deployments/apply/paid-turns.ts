// Turns of deployments, each charged to its account: a charge a minute for each deployment, and one at its end. A deployment whose
// account cannot pay ends: what is applied stays, and the record says why the rest is not.
import { isSilent } from '#charging/faults.ts'
import type { WorkBills } from '#charging/work-bills.ts'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import type { PaidWork } from '#node/tasks-part.ts'
import { countedState } from './counted-state.ts'
import type { FollowedDeployment } from './follow-deployments.ts'
import { giveUp, takeTurn } from './take-turn.ts'
import type { TurnDeps } from './turn.ts'

export type PaidTurns = {
  /** As takeTurn(); throws state_unavailable while the ledger is away. */
  take(deployment: FollowedDeployment): Promise<'changed' | 'waits'>
  /** Resolves when everything is charged. */
  close(): Promise<void>
}

export function createPaidTurns(
  deps: TurnDeps,
  work: Pick<PaidWork, 'markOwn'> & {
    readonly bills: (operation: 'deployment.apply') => WorkBills
  },
): PaidTurns {
  const bills = work.bills('deployment.apply')
  const { markOwn } = work
  return {
    close: () => bills.close(),
    async take({ id, account }) {
      const bill = await bills.take({ account, resource: chargedResource(id) })
      const { refusal } = bill
      try {
        if (refusal !== undefined) {
          if (isSilent(refusal)) throw refusal
          await giveUp(deps.state, id, { code: refusal.code, message: refusal.message })
          return 'changed'
        }
        markOwn()
        const mark = () => bill.mark()
        const reached = await takeTurn(
          { ...deps, state: countedState(deps.state, { mark, markOwn }) },
          id,
        )
        mark()
        return reached
      } finally {
        bill.release()
      }
    },
  }
}
