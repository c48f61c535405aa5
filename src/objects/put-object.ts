// Commits new versions. Concurrent requests share a transaction and its sync.
import type { TimerClock } from '#base/clock.ts'
import { isRefusedByState, type Queryable } from '#state/connect.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { gather } from './gather.ts'
import type { WrittenObject } from './objects.ts'
import { checkedSize, inOrder, writtenParts } from './rows.ts'
import type { Bucket } from './types.ts'
import { BUCKET_BUSY, whenFree } from './when-free.ts'

export type WrittenRow = { refused: string | null; version_id: string; modified_ms: string }

type Put = { readonly bucket: Bucket; readonly key: string; readonly written: WrittenObject }

/** SQLSTATE of put.sql: a shared blob was removed with its last version. */
const SOURCE_GONE = 'ERG01'
/** Half a megabyte of bodies, and 4 to 8 ms of server CPU under locks. */
const TOGETHER_MAX = 16

/** Commits one version. Throws ConditionalRequestConflict when shared blobs are gone. */
export function createVersionCommit(deps: {
  puts: Queryable
  clock: Pick<TimerClock, 'monotonicMs' | 'setTimer'>
}): (put: Put) => Promise<WrittenRow> {
  const { puts: state, clock } = deps
  const putOne = gather({
    ask: (puts: readonly Put[]) => putAll(state, puts),
    clock,
    most: TOGETHER_MAX,
    isUndone: isRefusedByState,
  })
  return async (put) => {
    checkedSize(put.written.attributes, put.written.body)
    const putFree = async () => {
      const row = await putOne(put)
      return row.refused === BUCKET_BUSY ? undefined : row
    }
    return await whenFree(clock, putFree).catch((error: unknown) => {
      throw isSourceGone(error) ? storageFault('ConditionalRequestConflict') : error
    })
  }
}

async function putAll(state: Queryable, puts: readonly Put[]): Promise<WrittenRow[]> {
  const bodies = puts.map(({ written: { body } }) => (body.kind === 'inline' ? body.bytes : null))
  let start = 1
  const starts = bodies.map((body) => {
    const own = start
    start += body?.length ?? 0
    return own
  })
  const { rows } = await state.query<WrittenRow & { n: number }>(
    'select * from storage_put_all($1, $2, $3, $4, $5, $6)',
    [
      puts.map(({ bucket }) => bucket.id),
      puts.map(({ key }) => key),
      JSON.stringify(puts.map(({ written }) => givenOf(written))),
      Buffer.concat(bodies.filter((body) => body !== null)),
      starts,
      bodies.map((body) => body?.length ?? null),
    ],
  )
  return inOrder(rows, puts.length)
}

/** The `written` of put.sql. */
function givenOf({
  attributes,
  body,
  conditions,
  share,
  annotations,
  event = 'ObjectCreated:Put',
  partCount = 0,
}: WrittenObject) {
  const parts = body.kind === 'parts' ? body.parts : undefined
  return {
    ...attributes,
    event,
    conditions,
    share,
    annotations,
    partCount,
    ...(parts && { ...writtenParts(parts), blobs: parts.map(({ blob }) => blob) }),
  }
}

const isSourceGone = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === SOURCE_GONE
