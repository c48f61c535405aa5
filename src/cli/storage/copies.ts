// Objects into other objects: the service copies, no byte passes through here. Large ones go in parts.
import { basename } from 'node:path'
import { CopyObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import { copyInParts, copySourceOf } from './copy-parts.ts'
import { objectsBelow } from './objects.ts'
import { folderOf, keyIn, type ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'
import { CONCURRENCY, type Transfer } from './transfers.ts'

const MIB = 1_048_576

export type CopyLimits = {
  /** Largest object that one request may copy, in bytes. */
  readonly wholeBytes: number
  /** Part size of larger copies; 5 MiB at least. */
  readonly partBytes: number
}
// The service syncs a part before it answers, which has to come within two minutes.
const LIMITS: CopyLimits = { wholeBytes: 5 * 1024 * MIB, partBytes: 64 * MIB }

type Plan = { readonly from: ObjectPlace; readonly to: ObjectPlace; readonly recursive: boolean }

/** One object, or with `recursive` everything below a prefix to below another. */
export async function copies(
  session: TransferSession,
  { from, to, recursive }: Plan,
  limits: CopyLimits = LIMITS,
): Promise<Transfer[]> {
  if (!recursive) {
    const target = { ...to, key: keyIn(to.key, basename(from.key)) }
    return [copy(session, { from, to: target, bytes: undefined, lanes: CONCURRENCY, limits })]
  }
  const prefix = folderOf(from.key)
  const objects = await objectsBelow(session, { ...from, key: prefix })
  return objects.map(({ key, size }) => {
    const target = { ...to, key: folderOf(to.key) + key.slice(prefix.length) }
    return copy(session, { from: { ...from, key }, to: target, bytes: size, lanes: 1, limits })
  })
}

type Copy = {
  readonly from: ObjectPlace
  readonly to: ObjectPlace
  readonly bytes: number | undefined
  readonly lanes: number
  readonly limits: CopyLimits
}

const copy = (session: TransferSession, plan: Copy): Transfer => ({
  bytes: plan.bytes,
  run: async ({ expected, moved }) => {
    const { from, to, lanes, limits } = plan
    const known = plan.bytes ?? (await sizeOf(session, from).catch(() => undefined))
    if (plan.bytes === undefined) expected(known ?? 0)
    if (known !== undefined && known > limits.wholeBytes)
      return await copyInParts(session, { from, to, partBytes: limits.partBytes, lanes, moved })
    const target = { Bucket: to.bucket, Key: to.key }
    const asked = new CopyObjectCommand({ ...target, CopySource: copySourceOf(from) })
    // Where the size could not be asked for, this is refused too, and says why: HEAD has no body for it.
    await session.s3.send(asked, { abortSignal: session.signal })
    moved(known ?? (await sizeOf(session, to)))
  },
})

async function sizeOf(
  { s3, signal }: TransferSession,
  { bucket, key }: ObjectPlace,
): Promise<number> {
  const asked = new HeadObjectCommand({ Bucket: bucket, Key: key })
  return (await s3.send(asked, { abortSignal: signal })).ContentLength ?? 0
}
