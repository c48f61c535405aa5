// The background half of deployments: applies them step by step, at the cost of their accounts.
import { onceDone } from '#base/once-done.ts'
import type { TasksCore, TasksProduct } from '#node/tasks-part.ts'
import { followDeployments } from './apply/follow-deployments.ts'
import { deploymentKeyOf } from './sealed-input.ts'

export const DEPLOYMENTS_TASKS: TasksProduct = {
  name: 'deployments',
  isCaused: true,
  open: (core) => ({
    async run(signal) {
      const turns = turnsOf(core)
      await followDeployments({ ...core, takeTurn: turns.take }, signal)
      await turns.close()
    },
    async leave(account) {
      await core.state.query('select leave_deployments($1)', [account])
      return undefined
    },
  }),
}

/** The language and the products' parts take 10 MB: they are loaded for the first deployment. */
function turnsOf({ state, log, secret, stackParts, paidWork }: TasksCore) {
  let isLoaded = false
  const loaded = onceDone(async () => {
    isLoaded = true
    const [{ createPaidTurns }, parts, work] = await Promise.all([
      import('./apply/paid-turns.ts'),
      stackParts(),
      paidWork(),
    ])
    return createPaidTurns({ state, log, parts, key: deploymentKeyOf(secret) }, work)
  })
  return {
    take: async (deployment: { readonly id: string; readonly account: string }) =>
      await (await loaded()).take(deployment),
    close: async () => void (isLoaded && (await (await loaded()).close())),
  }
}
