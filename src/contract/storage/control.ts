// The operator's operations on object storage: the move of blobs to another store, and the named keys.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'

const move = z.strictObject({
  to: z.string(),
  state: z.enum(['moving', 'done', 'stopped']),
  moved: z.number(),
  bytes: z.number(),
  permille: z.number(),
  damaged_count: z.number(),
  damaged: z
    .array(z.strictObject({ id: z.string(), location: z.string(), found: z.string() }))
    .readonly(),
  failure: z.string().nullable(),
})

export const STORAGE_CONTROL = {
  /** Answers when the move has ended. */
  'storage.move': {
    request: ownObject({ to: z.string().optional() }),
    answer: move,
    progress: move,
  },
  'storage.stop-move': {
    request: ownObject({}),
    answer: z.strictObject({ stopped: z.boolean() }),
  },
  'storage-key.list': {
    request: ownObject({}),
    answer: z.array(
      z.strictObject({
        name: z.string(),
        version: z.number(),
        wrapped_by: z.number(),
        rotated_at: z.string().nullable(),
      }),
    ),
  },
  'storage-key.rotate': {
    request: ownObject({ name: z.string() }),
    answer: z.strictObject({ name: z.string(), version: z.number() }),
  },
} satisfies ControlTable
