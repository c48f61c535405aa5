// The background half of deployments: applies them step by step.
import { onceDone } from '#base/once-done.ts'
import type { TasksCore, TasksProduct } from '#node/tasks-part.ts'
import { followDeployments } from './apply/follow-deployments.ts'
import { deploymentKeyOf } from './sealed-input.ts'

export const DEPLOYMENTS_TASKS: TasksProduct = {
  name: 'deployments',
  open: (core) => ({
    run: (signal) => followDeployments({ ...core, takeTurn: turnsOf(core) }, signal),
    async leave(account) {
      await core.state.query('select leave_deployments($1)', [account])
      return undefined
    },
  }),
}

/** The language and the products' parts take 10 MB: they are loaded for the first deployment. */
function turnsOf({ state, log, secret, stackParts }: TasksCore) {
  const loaded = onceDone(async () => {
    const [{ takeTurn }, parts] = await Promise.all([import('./apply/take-turn.ts'), stackParts()])
    const deps = { state, log, parts, key: deploymentKeyOf(secret) }
    return (id: string) => takeTurn(deps, id)
  })
  return async (id: string) => (await loaded())(id)
}
