// The operator's operations on the move of blobs to another store: they order the move and follow it. A background
// task moves.
import { setTimeout as pause } from 'node:timers/promises'
import type { BlobSettings } from '#blobs/stores.ts'
import type { STORAGE_CONTROL } from '#contract/storage/control.ts'
import type { ControlCall, ControlHandlers } from '#contract/control-operation.ts'
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'
import {
  beginMove,
  loadMove,
  MOVE_TASK,
  stopMove,
  type MoveOrder,
} from '#objects/upkeep/move-order.ts'
import { startTask } from '#tasks/admin.ts'

const LOOK_MS = 500

type Deps = { readonly state: State; readonly blobs: BlobSettings }

export const storageMoveHandlers = (deps: Deps) =>
  ({
    'storage.move': ({ to }, call) => move(deps, to, call),
    'storage.stop-move': async () => ({ stopped: await stopMove(deps.state) }),
  }) satisfies Partial<ControlHandlers<typeof STORAGE_CONTROL>>

/** Answers when the move is done or stopped. A caller who leaves before does not stop it. */
async function move(
  { state, blobs }: Deps,
  to: string | undefined,
  { signal, progress }: ControlCall<ShownMove>,
): Promise<ShownMove> {
  const { run } = await beginMove(state, targetOf(blobs, to))
  // Where no task runs yet, the first run of the task finds the order.
  await startTask(state, MOVE_TASK)
  for (let shownLine = ''; ;) {
    signal.throwIfAborted()
    const order = await loadMove(state)
    if (order === undefined || order.run !== run)
      throw fault('not_found', 'Could not follow the move: another one was ordered')
    if (order.state !== 'moving') return shown(order)
    const line = JSON.stringify(shown(order))
    if (line !== shownLine) progress(shown(order))
    shownLine = line
    await pause(LOOK_MS, undefined, { signal })
  }
}

/** Only where new blobs go: moved elsewhere it would never be complete. Throws invalid_request. */
function targetOf({ target }: BlobSettings, to: string | undefined): string {
  const kind = target === 'fs' ? 'fs' : 's3'
  if (to === undefined || to === target || to === kind) return target
  throw fault(
    'invalid_request',
    `Could not move blobs to ${to}: new ones go to ${target}; set ERGON_STORAGE_BLOBS and restart first`,
    { param: 'to' },
  )
}

type ShownMove = ReturnType<typeof shown>

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
