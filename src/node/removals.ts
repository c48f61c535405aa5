// The part of a node that runs nothing of a kind: its deletions are made all the same. Else what is deleted would be charged,
// and the deletion of its account would wait, for as long as the kind is off.
import { reconcile, type ReconcilerDeps } from '#resources/reconciler.ts'
import type { AgentCore, AgentPart } from './agent-part.ts'

export function removals(
  { state, log }: Pick<AgentCore, 'state' | 'log'>,
  kind: string,
  remove: ReconcilerDeps['remove'],
): Required<Pick<AgentPart, 'start' | 'close'>> {
  const ending = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const never = () => Promise.reject(new TypeError('Only deletions are made on this node'))
  const deps = { state, log, kind, remove, deploy: never, suspend: never, removesAlone: true }
  return {
    async start() {
      running = reconcile(deps, ending.signal)
    },
    async close() {
      ending.abort()
      await running
    },
  }
}
