// Operator operations on where blobs are: they order the move and follow it. A background task moves.
import { setTimeout as pause } from 'node:timers/promises'
import type { BlobSettings } from '#blobs/stores.ts'
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'
import { beginMove, loadMove, stopMove, type MoveOrder } from '#objects/upkeep/move-order.ts'
import type { ControlCall, ControlRoute } from '#node/control/control.ts'
import { MOVE_TASK } from '#objects/tasks.ts'
import { startTask } from '#tasks/admin.ts'

const LOOK_MS = 500

export const storageMoveRoutes = (deps: {
  state: State
  blobs: BlobSettings
}): readonly ControlRoute[] => [
  {
    method: 'POST',
    path: /^\/storage\/move$/,
    members: ['to'],
    handle: (call) => move(deps, call),
  },
  {
    method: 'DELETE',
    path: /^\/storage\/move$/,
    handle: async () => ({ stopped: await stopMove(deps.state) }),
  },
]

/** Answers when it is done or stopped; who goes before only sees no more of it. */
async function move(
  { state, blobs }: Parameters<typeof storageMoveRoutes>[0],
  { body, signal, progress }: ControlCall,
): Promise<object> {
  const { run } = await beginMove(state, targetOf(blobs, body['to']))
  // Where no task runs yet, the first run of the task finds the order.
  await startTask(state, MOVE_TASK)
  for (let told = ''; ;) {
    signal.throwIfAborted()
    const order = await loadMove(state)
    if (order === undefined || order.run !== run)
      throw fault('not_found', 'Could not follow the move: another one was ordered')
    if (order.state !== 'moving') return shown(order)
    const line = JSON.stringify(shown(order))
    if (line !== told) progress({ progress: shown(order) })
    told = line
    await pause(LOOK_MS, undefined, { signal })
  }
}

/** Only where new blobs go: moved elsewhere it would never be complete. Throws invalid_request. */
function targetOf({ target }: BlobSettings, to: unknown): string {
  const kind = target === 'fs' ? 'fs' : 's3'
  if (to === undefined || to === target || to === kind) return target
  throw fault(
    'invalid_request',
    `Could not move blobs to ${String(to)}: new ones go to ${target}; set ERGON_STORAGE_BLOBS and restart first`,
    { param: 'to' },
  )
}

const shown = (order: MoveOrder) => ({
  to: order.to,
  state: order.state,
  moved: order.moved,
  bytes: order.bytes,
  permille: order.permille,
  damaged_count: order.damagedCount,
  damaged: order.damaged,
  failure: order.failure,
})
